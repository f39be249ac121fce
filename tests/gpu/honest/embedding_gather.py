# entry: gather with int64 ids
# task: embedding
# expect: CORRECT
"""A block copies the row of one id, four floats at a time where the width allows it."""

import torch

from kernelwright import native

lib = native.cuda(
    r"""
#include <cstdint>

template <typename Piece>
__global__ void gather_rows(const Piece* __restrict__ table, const int64_t* __restrict__ ids, Piece* __restrict__ y,
                            int64_t width) {
    const Piece* from = table + ids[blockIdx.x] * width;
    Piece* to = y + (int64_t)blockIdx.x * width;
    for (int64_t i = threadIdx.x; i < width; i += blockDim.x) to[i] = from[i];
}

extern "C" void gather(const float* table, const int64_t* ids, float* y, int64_t count, int64_t width,
                       cudaStream_t stream) {
    const bool aligned = (((uintptr_t)table | (uintptr_t)y) & 15) == 0 && width % 4 == 0;
    if (aligned)
        gather_rows<float4><<<(unsigned)count, 192, 0, stream>>>((const float4*)table, ids, (float4*)y, width / 4);
    else
        gather_rows<float><<<(unsigned)count, 192, 0, stream>>>(table, ids, y, width);
}
"""
)


class ModelNew(torch.nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = torch.nn.Embedding(words, width)

    def forward(self, ids):
        weight = self.table.weight
        y = torch.empty(*ids.shape, weight.shape[1], device=ids.device)
        lib.gather(weight, ids, y, ids.numel(), weight.shape[1])
        return y
