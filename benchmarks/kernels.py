"""Softmax kernels that differ in text and in plan, all correct: material for the benchmarks."""

from __future__ import annotations

from pathlib import Path

SOFTMAX_TASK = Path(__file__).parent / "softmax_4096x1024.py"

TEMPLATE = '''
import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <cmath>
#include <cstdint>

// variant {number}
extern "C" void softmax(const float* x, float* y, int64_t rows, int64_t cols) {{
    #pragma omp parallel for schedule({schedule})
    for (int64_t r = 0; r < rows; r++) {{
        const float* a = x + r * cols;
        float* b = y + r * cols;
        float top = a[0];
        #pragma omp simd reduction(max : top)
        for (int64_t c = 0; c < cols; c++) top = a[c] > top ? a[c] : top;
        float total = 0;
        #pragma omp simd reduction(+ : total) simdlen({width})
        for (int64_t c = 0; c < cols; c++) {{
            b[c] = std::exp(a[c] - top);
            total += b[c];
        }}
        float scale = 1 / total;
        #pragma omp simd
        for (int64_t c = 0; c < cols; c++) b[c] *= scale;
    }}
}}
""",
    flags=["-ffast-math", "-O{level}"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.softmax(x, y, x.shape[0], x.shape[1])
        return y
'''


def softmax_variants(number: int) -> list[str]:
    """As many distinct kernels as asked for."""
    schedules = ("static", "static, 16", "static, 64", "dynamic, 32", "guided")
    return [
        TEMPLATE.format(
            number=index, schedule=schedules[index % 5], width=(8, 16)[index % 2], level=(3, 2)[index % 3 == 2]
        )
        for index in range(number)
    ]
