"""The gauge's arithmetic as CUDA kernels, compiled when first needed: one pass over a result of any size.

The same arithmetic as `_ruler.cpp`, which is the judge's on the host.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
from pathlib import Path
from typing import Any

import torch
from torch.cuda._utils import _cuda_load_module, _nvrtc_compile

from kernelwright import native
from kernelwright.judge._ruler import BLOCK

THREADS = 256
SOURCE = r"""
#ifdef SHORT
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#endif
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)

__device__ double wide(double x) { return x; }
__device__ double wide(float x) { return x; }
#ifdef SHORT
__device__ double wide(__half x) { return __half2float(x); }
__device__ double wide(__nv_bfloat16 x) { return __bfloat162float(x); }
#endif

__device__ double off(double got, double v, double scale) {
    bool met = got == v || (got != got && v != v);
    double error = isfinite(v) ? fabs(got - v) / (fabs(v) + scale) : met ? 0 : INFINITE;
    return error != error ? INFINITE : error;
}

__device__ void gather(double total, double peak, double *totals, double *peaks) {
    __shared__ double sums[THREADS], tops[THREADS];
    sums[threadIdx.x] = total;
    tops[threadIdx.x] = peak;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            tops[threadIdx.x] = fmax(tops[threadIdx.x], tops[threadIdx.x + half]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = sums[0];
        if (peaks) peaks[blockIdx.x] = tops[0];
    }
}

extern "C" __global__ void squares(const double *right, double *means, const long long *length) {
    long long start = (long long)blockIdx.x * BLOCK, stop = min(start + BLOCK, *length);
    double total = 0;
    for (long long i = start + threadIdx.x; i < stop; i += THREADS) {
        double v = right[i];
        total += isfinite(v) ? v * v : 0;
    }
    gather(total / (stop - start), 0, means, nullptr);
}

extern "C" __global__ void deviation(const T *result, const double *right, const double *scales, double *totals,
                                     double *peaks, const long long *length) {
    long long start = (long long)blockIdx.x * BLOCK, stop = min(start + BLOCK, *length);
    double scale = scales[blockIdx.x], total = 0, peak = 0;
    for (long long i = start + threadIdx.x; i < stop; i += THREADS) {
        double error = off(wide(result[i]), right[i], scale);
        total += error * error;
        peak = fmax(peak, error);
    }
    gather(total, peak, totals, peaks);
}

extern "C" __global__ void pardoned(const T *result, const double *right, const double *scales, const float *moves,
                                    const float *times, double *totals, double *peaks, const long long *length) {
    long long start = (long long)blockIdx.x * BLOCK, stop = min(start + BLOCK, *length);
    double scale = scales[blockIdx.x], total = 0, peak = 0;
    for (long long i = start + threadIdx.x; i < stop; i += THREADS) {
        double got = wide(result[i]), v = right[i], gap = got - v, room = moves[i] * *times;
        double error = off(fabs(gap) <= room ? v : got - copysign(room, gap), v, scale);
        total += error * error;
        peak = fmax(peak, error);
    }
    gather(total, peak, totals, peaks);
}

extern "C" __global__ void grow(float *moves, const double *there, const double *right, const long long *length) {
    long long start = (long long)blockIdx.x * BLOCK, stop = min(start + BLOCK, *length);
    for (long long i = start + threadIdx.x; i < stop; i += THREADS) {
        double far = fabs(there[i] - right[i]);
        moves[i] = fmaxf(moves[i], isfinite(far) ? (float)far : 0);
    }
}
"""
# Where compiled kernels are kept, if anywhere.
folder: Path | None = None
TYPES = {
    torch.float64: "double",
    torch.float32: "float",
    torch.float16: "__half",
    torch.bfloat16: "__nv_bfloat16",
}


@functools.cache
def _kernel(name: str, dtype: torch.dtype) -> Any:
    numbers = f"#define THREADS {THREADS}\n#define BLOCK {BLOCK}\n#define T {TYPES[dtype]}\n"
    numbers += "#define SHORT\n" if dtype.itemsize < 4 else ""
    return getattr(_cuda_load_module(_compiled(numbers + SOURCE, name)), name)


def _compiled(source: str, name: str) -> bytes:
    """The kernel as the driver takes it, kept in a file: the compiler takes longer than many a judgement."""
    made_for = (source, name, torch.__version__, torch.version.cuda, torch.cuda.get_device_capability())
    path = folder / f"{hashlib.sha256(repr(made_for).encode()).hexdigest()[:32]}.bin" if folder else None
    if path is not None and path.exists():
        return path.read_bytes()
    code = _machine_code(source, name)
    if path is not None:
        _put(path, code)
    return code


def _machine_code(source: str, name: str) -> bytes:
    """For this device if NVRTC is at hand; else in the form that the driver has to translate in every process."""
    compiler = native.nvrtc()
    if compiler is not None:
        major, minor = torch.cuda.get_device_capability()
        with contextlib.suppress(native.CompileError, OSError):
            return compiler.compile(source, f"sm_{major}{minor}", [])
    text, _ = _nvrtc_compile(source, name)
    return text


def _put(path: Path, text: bytes) -> None:
    """Appears at once and whole; a folder that cannot be written to costs time, nothing else."""
    with contextlib.suppress(OSError):
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(text)
        part.replace(path)


def _launch(name: str, dtype: torch.dtype, blocks: int, *arguments: torch.Tensor) -> None:
    _kernel(name, dtype)(grid=(blocks, 1, 1), block=(THREADS, 1, 1), args=list(arguments))


def squares(right: torch.Tensor) -> torch.Tensor:
    """The mean square of every block, what is not finite counting as zero."""
    blocks = math.ceil(right.numel() / BLOCK)
    means = torch.empty(blocks, dtype=torch.float64, device=right.device)
    _launch("squares", torch.float64, blocks, right, means, _length(right))
    return means


def deviation(result: torch.Tensor, right: torch.Tensor, scales: torch.Tensor) -> tuple[float, float]:
    """The sum of squared errors and the largest error, in local units."""
    blocks = math.ceil(right.numel() / BLOCK)
    totals, peaks = torch.empty(2, blocks, dtype=torch.float64, device=right.device)
    _launch("deviation", result.dtype, blocks, result, right, scales, totals, peaks, _length(right))
    return float(totals.sum()), float(peaks.max())


def pardoned(
    result: torch.Tensor, right: torch.Tensor, scales: torch.Tensor, moves: torch.Tensor, times: float
) -> tuple[float, float]:
    """The same once every element may be off by so many times its own move."""
    blocks = math.ceil(right.numel() / BLOCK)
    totals, peaks = torch.empty(2, blocks, dtype=torch.float64, device=right.device)
    factor = torch.tensor([times], dtype=torch.float32, device=right.device)
    _launch("pardoned", result.dtype, blocks, result, right, scales, moves, factor, totals, peaks, _length(right))
    return float(totals.sum()), float(peaks.max())


def grow(moves: torch.Tensor, there: torch.Tensor, right: torch.Tensor) -> None:
    """Notes how far one answer lies from another, where that is farther than known before."""
    _launch("grow", torch.float64, math.ceil(right.numel() / BLOCK), moves, there, right, _length(right))


def _length(values: torch.Tensor) -> torch.Tensor:
    return torch.tensor([values.numel()], dtype=torch.int64, device=values.device)
