# entry: workspace kept on the module
# task: column_sum
# expect: CORRECT
"""Slices of the rows are summed into a workspace that is kept between calls and grows on demand."""

import torch

from kernelwright import native

SLICES = 64

lib = native.cuda(
    r"""
__global__ void sum_slices(const float* __restrict__ x, float* __restrict__ parts, int rows, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    const int first = (int)((long long)rows * blockIdx.y / gridDim.y);
    const int last = (int)((long long)rows * (blockIdx.y + 1) / gridDim.y);
    float total = 0.0f;
    for (int r = first; r < last; r++) total += x[(long long)r * cols + col];
    parts[(long long)blockIdx.y * cols + col] = total;
}

__global__ void sum_parts(const float* __restrict__ parts, float* __restrict__ y, int slices, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float total = 0.0f;
    for (int s = 0; s < slices; s++) total += parts[(long long)s * cols + col];
    y[col] = total;
}

extern "C" void column_sum(const float* x, float* parts, float* y, int rows, int cols, int slices,
                           cudaStream_t stream) {
    const int across = (cols + 127) / 128;
    sum_slices<<<dim3(across, slices), 128, 0, stream>>>(x, parts, rows, cols);
    sum_parts<<<across, 128, 0, stream>>>(parts, y, slices, cols);
}
"""
)


class ModelNew(torch.nn.Module):
    workspace = None

    def forward(self, x):
        rows, cols = x.shape
        if self.workspace is None or self.workspace.numel() < SLICES * cols:
            self.workspace = torch.empty(SLICES * cols, device=x.device)
        y = torch.empty(cols, device=x.device)
        lib.column_sum(x, self.workspace, y, rows, cols, SLICES)
        return y
