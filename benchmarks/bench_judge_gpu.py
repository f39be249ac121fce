"""How fast the judge is on a GPU: KernelBench's ReLU in CUDA and Swish in Triton, full size (1.6 billion elements).

    make bench-judge-gpu        about three minutes on an H200

From nothing: a new judge, so torch is imported too. Cold: a judge that has imported torch and nothing else, so the task
is prepared and everything compiled. Warm: the next distinct candidate. A first judgement that is not shown has read the
files of torch from disk. Every check is made and the candidate is timed against eager.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kernelwright.judge import Judge, Verdict
from kernelwright.judge.device import _health
from kernelwright.native import gpu
from kernelwright.tasks import load_task

WANTED = {"CUDA ReLU": (5.0, 2.5), "Triton Swish": (6.0, 3.5), "load_inline ReLU": (40.0, 12.0)}
# One candidate in KernelBench's own evaluator on the same kind of machine, in seconds.
STOCK = {"CUDA ReLU": 166.8, "Triton Swish": 93.7, "load_inline ReLU": 166.8}
PARTS = ("build", "load", "check", "time")
WARM = 3
# Seconds between candidates: the next one rarely comes at once.
PAUSE = 2
TASK = """
import torch
from torch import nn

rows, cols = 4096, 393216


class Model(nn.Module):
    def forward(self, x):
        return EXPRESSION


def get_inputs():
    return [torch.rand(rows, cols)]


def get_init_inputs():
    return []
"""
RELU = '''
import torch

from kernelwright import native

lib = native.cuda(r"""
__global__ void relu_kernel(const float4* x, float4* y, long count) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 v = x[i];
    y[i] = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0));
}

extern "C" void relu(const float* x, float* y, long count, cudaStream_t stream) {
    relu_kernel<<<(count / 4 + 255) / 256, 256, 0, stream>>>((const float4*)x, (float4*)y, count / 4);
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu(x, y, x.numel())
        return y
'''
SWISH = """
import torch
import triton
import triton.language as tl


@triton.jit
def swish_kernel(x, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count)
    tl.store(y + at, value * tl.sigmoid(value), mask=at < count)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        count = x.numel()
        swish_kernel[(triton.cdiv(count, 2048),)](x, y, count, BLOCK=2048)
        return y
"""
# As it is published, but for the size: the number of elements does not fit an int.
INLINE_RELU = '''
import torch
from torch.utils.cpp_extension import load_inline

relu_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void relu_kernel(const float* x, float* y, int64_t size) {
    int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < size) y[idx] = fmaxf(x[idx], 0.0f);
}

torch::Tensor relu_cuda(torch::Tensor x) {
    auto size = x.numel();
    auto y = torch::empty_like(x);
    const int block_size = 256;
    const int64_t num_blocks = (size + block_size - 1) / block_size;
    relu_kernel<<<num_blocks, block_size>>>(x.data_ptr<float>(), y.data_ptr<float>(), size);
    return y;
}
"""

relu = load_inline(
    name="relu",
    cpp_sources="torch::Tensor relu_cuda(torch::Tensor x);",
    cuda_sources=relu_source,
    functions=["relu_cuda"],
    verbose=True,
)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = relu

    def forward(self, x):
        return self.relu.relu_cuda(x)
'''
PAIRS = {
    "CUDA ReLU": ("torch.relu(x)", RELU),
    "Triton Swish": ("x * torch.sigmoid(x)", SWISH),
    "load_inline ReLU": ("torch.relu(x)", INLINE_RELU),
}


def main() -> None:
    console = Console(highlight=False, width=130)
    table = Table(title="one candidate, full size, in seconds")
    for heading in ("candidate", "judge", "status", "over eager", *PARTS, "total", "wanted", "stock / ours"):
        table.add_column(heading, justify="right")
    _read_from_disk()
    for name, (expression, source) in PAIRS.items():
        for row in _rows(name, expression, source):
            table.add_row(*row)
    here = gpu()
    console.print(f"{here.name if here else 'no GPU'}, {_health.look()}")
    console.print(table)


def _rows(name: str, expression: str, source: str) -> list[list[str]]:
    cold, warm = WANTED[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.py"
        path.write_text(TASK.replace("EXPRESSION", expression))
        start = time.perf_counter()
        with Judge() as judge:
            verdict = judge.judge(load_task(path), _another(source, 0))
            rows = [_row(name, "from nothing", verdict, time.perf_counter() - start, cold)]
        with Judge() as judge:
            for number in range(1, 2 + WARM):
                time.sleep(PAUSE)
                start = time.perf_counter()
                verdict = judge.judge(load_task(path), _another(source, number))
                state, wanted = ("cold", cold) if number == 1 else ("warm", warm)
                rows.append(_row(name, state, verdict, time.perf_counter() - start, wanted))
    return rows


def _read_from_disk() -> None:
    """What every judgement reads."""
    with tempfile.TemporaryDirectory() as folder, Judge() as judge:
        path = Path(folder) / "task.py"
        path.write_text(TASK.replace("EXPRESSION", "torch.relu(x)"))
        judge.judge(load_task(path), RELU, timed=False)


def _another(source: str, number: int) -> str:
    """The same candidate as another text; that of an extension has to be built again."""
    return source.replace("#include <cuda_runtime.h>", f"#include <cuda_runtime.h> // {number}") + f"# {number}\n"


def _row(name: str, state: str, verdict: Verdict, total: float, wanted: float) -> list[str]:
    found = verdict.speedup.get("eager")
    ratio = f"{found['ratio']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]" if found else verdict.message[:60]
    parts = [f"{verdict.seconds[part]:.2f}" for part in PARTS]
    return [
        name,
        state,
        str(verdict.status),
        ratio,
        *parts,
        f"{total:.2f}",
        f"{wanted:.1f}",
        f"{STOCK[name] / total:.0f}x",
    ]


if __name__ == "__main__":
    main()
