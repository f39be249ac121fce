# entry: convolution, direct
# task: conv2d
# expect: CORRECT
"""A patch of the image and the weights of eight filters in shared memory, one pixel a thread."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
constexpr int SIDE = 16, PATCH = SIDE + 2, FILTERS = 8, TAPS = 9, THREADS = SIDE * SIDE;

__global__ void __launch_bounds__(THREADS)
conv_tiles(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
           float* __restrict__ y, int channels, int filters, int height, int width) {
    __shared__ float patch[PATCH][PATCH + 1];
    __shared__ float taps[FILTERS][TAPS];
    const int across = (width + SIDE - 1) / SIDE;
    const int row0 = blockIdx.x / across * SIDE, col0 = blockIdx.x % across * SIDE;
    const int filter0 = blockIdx.y * FILTERS, image = blockIdx.z;
    const int ty = threadIdx.x / SIDE, tx = threadIdx.x % SIDE;
    const long long plane = (long long)height * width;

    float sums[FILTERS] = {};
    for (int c = 0; c < channels; c++) {
        const float* source = x + ((long long)image * channels + c) * plane;
        for (int i = threadIdx.x; i < PATCH * PATCH; i += THREADS) {
            const int r = i / PATCH, q = i % PATCH;
            const int row = row0 + r - 1, col = col0 + q - 1;
            const bool inside = row >= 0 && row < height && col >= 0 && col < width;
            patch[r][q] = inside ? source[(long long)row * width + col] : 0.0f;
        }
        for (int i = threadIdx.x; i < FILTERS * TAPS; i += THREADS) {
            const int f = i / TAPS, t = i % TAPS;
            taps[f][t] = filter0 + f < filters ? weight[((long long)(filter0 + f) * channels + c) * TAPS + t] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int t = 0; t < TAPS; t++) {
            const float value = patch[ty + t / 3][tx + t % 3];
            #pragma unroll
            for (int f = 0; f < FILTERS; f++) sums[f] = fmaf(value, taps[f][t], sums[f]);
        }
        __syncthreads();
    }
    const int row = row0 + ty, col = col0 + tx;
    if (row >= height || col >= width) return;
    #pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        const int filter = filter0 + f;
        if (filter < filters)
            y[((long long)image * filters + filter) * plane + (long long)row * width + col] = sums[f] + bias[filter];
    }
}

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* y, int batch, int channels,
                       int filters, int height, int width, cudaStream_t stream) {
    const int tiles = ((height + SIDE - 1) / SIDE) * ((width + SIDE - 1) / SIDE);
    const dim3 grid(tiles, (filters + FILTERS - 1) / FILTERS, batch);
    conv_tiles<<<grid, THREADS, 0, stream>>>(x, weight, bias, y, channels, filters, height, width);
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        weight, bias = self.conv.weight, self.conv.bias
        y = torch.empty(batch, weight.shape[0], height, width, device=x.device)
        lib.conv2d(x, weight, bias, y, batch, channels, weight.shape[0], height, width)
        return y
