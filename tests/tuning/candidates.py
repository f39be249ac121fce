"""Candidates with parameters, as texts."""

# For the task relu: x where it is positive, else 0. CHUNK is how many elements a turn of the outer loop takes.
RELU = '''\
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>
constexpr int64_t CHUNK = 64;  // tune: 16, 64, 256, 1024
#define UNROLL 2  // tune: 1, 2, 4
// tune where: CHUNK * UNROLL <= 2048
// tune by: rows, cols

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
    const int64_t n = rows * cols;
    for (int64_t start = 0; start < n; start += CHUNK) {
        int64_t stop = start + CHUNK < n ? start + CHUNK : n;
        for (int64_t i = start; i < stop; i += UNROLL)
            for (int64_t j = i; j < i + UNROLL && j < stop; j++) y[j] = x[j] > 0 ? x[j] : 0;
    }
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run(x, y, x.shape[0], x.shape[1])
        return y
'''

# In Python alone: nothing to compile, quick to read.
PLAIN = """\
\"\"\"TILE in a remark is no use of it.\"\"\"
TILE = 8  # tune: 4, 8, 16
UNROLL: int = 2  # tune: 1..4
ORDER = "rows"  # tune: "rows", "columns"
# tune where: TILE * UNROLL <= 32


def forward(x):
    return x.view(-1, TILE * UNROLL) if ORDER == "rows" else x
"""

# The same task in Triton, with a list of configurations in Triton's own words.
TRITON_RELU = """\
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 256}, num_warps=8)],
    key=["rows", "cols"],
)
@triton.jit
def relu(x, y, rows, cols, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < rows * cols), 0), mask=at < rows * cols)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        relu[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.shape[0], x.shape[1])
        return y
"""
