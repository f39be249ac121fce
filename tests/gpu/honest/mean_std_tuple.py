# entry: two outputs
# task: mean_std
# expect: CORRECT
"""Mean and corrected standard deviation in two passes, two tensors in a tuple; the kernel is launched by itself."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
__device__ float block_sum(float part) {
    __shared__ float of_warp[8];
    for (int offset = 16; offset > 0; offset /= 2) part += __shfl_xor_sync(0xffffffffu, part, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < 8; w++) total += of_warp[w];
    __syncthreads();
    return total;
}

extern "C" __global__ void __launch_bounds__(256)
mean_std_kernel(const float* x, float* mean, float* deviation, int cols) {
    const float* row = x + (long long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 256) sum += row[c];
    const float middle = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 256) {
        const float gap = row[c] - middle;
        squares += gap * gap;
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = middle;
        deviation[blockIdx.x] = sqrtf(squares / (cols - 1));
    }
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        mean, deviation = torch.empty(rows, device=x.device), torch.empty(rows, device=x.device)
        lib.mean_std_kernel[rows, 256](x, mean, deviation, cols)
        return mean, deviation
