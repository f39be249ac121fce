# entry: CUDA graph with inputs copied in
# task: matmul
# expect: CORRECT
"""Two kernels captured once a shape; every call copies its inputs in, replays, and hands out a copy of the result."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
constexpr int TILE = 64, DEPTH = 16, EACH = 4, THREADS = 256, SIDE = 32;

__global__ void __launch_bounds__(SIDE * 8) turn(const float* __restrict__ a, float* __restrict__ t, int m, int k) {
    __shared__ float tile[SIDE][SIDE + 1];
    const int col = blockIdx.x * SIDE + threadIdx.x;
    for (int r = threadIdx.y; r < SIDE; r += 8) {
        const int row = blockIdx.y * SIDE + r;
        if (row < m && col < k) tile[r][threadIdx.x] = a[(long long)row * k + col];
    }
    __syncthreads();
    const int row = blockIdx.y * SIDE + threadIdx.x;
    for (int r = threadIdx.y; r < SIDE; r += 8) {
        const int place = blockIdx.x * SIDE + r;
        if (place < k && row < m) t[(long long)place * m + row] = tile[threadIdx.x][r];
    }
}

__global__ void __launch_bounds__(THREADS)
multiply(const float* __restrict__ t, const float* __restrict__ b, float* __restrict__ c, int m, int k, int n) {
    __shared__ float left[DEPTH][TILE], right[DEPTH][TILE];
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[EACH][EACH] = {};
    for (int p0 = 0; p0 < k; p0 += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int p = i / TILE, q = i % TILE;
            left[p][q] = p0 + p < k && row0 + q < m ? t[(long long)(p0 + p) * m + row0 + q] : 0.0f;
            right[p][q] = p0 + p < k && col0 + q < n ? b[(long long)(p0 + p) * n + col0 + q] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < DEPTH; p++)
            #pragma unroll
            for (int i = 0; i < EACH; i++)
                #pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] = fmaf(left[p][ty + 16 * i], right[p][tx + 16 * j], sums[i][j]);
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        #pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < m && col < n) c[(long long)row * n + col] = sums[i][j];
        }
    }
}

extern "C" void transpose(const float* a, float* t, int m, int k, cudaStream_t stream) {
    turn<<<dim3((k + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE), dim3(SIDE, 8), 0, stream>>>(a, t, m, k);
}

extern "C" void matmul(const float* t, const float* b, float* c, int m, int k, int n, cudaStream_t stream) {
    multiply<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), THREADS, 0, stream>>>(t, b, c, m, k, n);
}
"""
)


class Captured:
    """The two launches for one pair of shapes, on buffers of their own."""

    def __init__(self, a, b):
        (self.m, self.k), self.n = a.shape, b.shape[1]
        self.a, self.b = torch.empty_like(a), torch.empty_like(b)
        self.turned = torch.empty(self.k, self.m, device=a.device)
        self.c = torch.empty(self.m, self.n, device=a.device)
        side = torch.cuda.Stream(a.device)
        side.wait_stream(torch.cuda.current_stream(a.device))
        with torch.cuda.stream(side):
            self.launch()
        torch.cuda.current_stream(a.device).wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.launch()

    def launch(self):
        lib.transpose(self.a, self.turned, self.m, self.k)
        lib.matmul(self.turned, self.b, self.c, self.m, self.k, self.n)

    def __call__(self, a, b):
        self.a.copy_(a)
        self.b.copy_(b)
        self.graph.replay()
        return self.c.clone()


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.captured = {}

    def forward(self, a, b):
        shapes = (*a.shape, *b.shape, a.device)
        if shapes not in self.captured:
            self.captured[shapes] = Captured(a, b)
        return self.captured[shapes](a, b)
