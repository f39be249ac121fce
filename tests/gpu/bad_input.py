"""What the judge says on a GPU to those who made a mistake: the right status, and a sentence that helps.

python -m tests.gpu.bad_input               every mistake once
python -m tests.gpu.bad_input never older   only those whose names begin so
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.judge import Judge, Limits
from kernelwright.tasks import load_task

TASK = Path(__file__).parent / "tasks" / "relu.py"
LIMITS = Limits(load_s=30, call_s=5, build_s=60, total_s=120)
KERNEL = """
__global__ void relu(const float* x, float* y, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < 0 ? 0 : x[i];
}
"""
LAUNCHER = (
    KERNEL
    + """
extern "C" void launch(const float* x, float* y, long n, cudaStream_t stream) {
    relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
"""
)
LAUNCH_KERNEL = "lib.relu[(x.numel() + 255) // 256, 256](x, y, x.numel())"
LAUNCH = "lib.launch(x, y, x.numel())"
NO_NVCC = {"KERNELWRIGHT_NVCC": "no-such-nvcc"}


def candidate(body: str, text: str = KERNEL, flags: str = "") -> str:
    lines = "\n        ".join(("y = torch.empty_like(x)", *body.splitlines(), "return y"))
    return (
        f'import torch\nfrom kernelwright import native\nlib = native.cuda(r"""{text}""", {flags!r})\n'
        f"class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        {lines}\n"
    )


@dataclass(frozen=True)
class Mistake:
    source: str
    expect: str
    words: str
    settings: dict[str, str] = field(default_factory=dict)


MISTAKES = {
    "none": Mistake(candidate(LAUNCH_KERNEL), "CORRECT", ""),
    "none, no nvcc": Mistake(candidate(LAUNCH_KERNEL), "CORRECT", "", NO_NVCC),
    "no nvcc": Mistake(candidate(LAUNCH, LAUNCHER), "OutOfReach", "needs the backend cuda", NO_NVCC),
    "unknown arch": Mistake(candidate(LAUNCH, LAUNCHER, "-arch=sm_20"), "COMPILE_ERROR", "cannot compile for 'sm_20'"),
    "another arch": Mistake(candidate(LAUNCH_KERNEL, flags="-arch=sm_75a"), "COMPILE_ERROR", "does not run on the"),
    "another GPU": Mistake(candidate(LAUNCH, LAUNCHER, "-arch=sm_121"), "COMPILE_ERROR", "leave -arch out"),
    "older arch": Mistake(candidate(LAUNCH_KERNEL, flags="-arch=sm_80"), "CORRECT", ""),
    "no such text": Mistake(candidate(LAUNCH_KERNEL, KERNEL.replace("long n", "lnog n")), "COMPILE_ERROR", "lnog"),
    "shape": Mistake(candidate("lib.relu[1, 2048](x, y, x.numel())"), "CRASH", "more than 1024"),
    "too much shared": Mistake(candidate("lib.relu[1, 256, 400 << 10](x, y, 9)"), "CRASH", "bytes of shared memory"),
    "on the CPU": Mistake(candidate(LAUNCH_KERNEL + "\ny = y.cpu()"), "WRONG_STRUCTURE", "returns a Tensor on cpu"),
    "CPU tensor": Mistake(candidate(LAUNCH_KERNEL.replace("(x, y", "(x.cpu(), y")), "CRASH", "call .cuda() first"),
    "cuda:1": Mistake(candidate("y = x.to('cuda:1')"), "CRASH", "shown one GPU"),
    "out of memory": Mistake(candidate("torch.empty(1 << 43, device=x.device)"), "OOM", "ran out of memory"),
    "cudaMalloc": Mistake(
        candidate("lib.take()", 'extern "C" cudaError_t take() { void* p; return cudaMalloc(&p, 1ul << 43); }'),
        "OOM",
        "out of memory",
    ),
    "never ends": Mistake(
        candidate(
            LAUNCH_KERNEL, KERNEL.replace("if (i < n)", "while (((volatile float*)y)[0] != 7.5f) {}\n if (i < n)")
        ),
        "TIMEOUT",
        "gave no answer within 5 s",
    ),
    "none, after all that": Mistake(candidate(LAUNCH, LAUNCHER), "CORRECT", ""),
}


def main(prefixes: list[str]) -> int:
    task = load_task(TASK)
    chosen = {name: mistake for name, mistake in MISTAKES.items() if name.startswith(tuple(prefixes or [""]))}
    wrong = 0
    with Judge(limits=LIMITS, device="cuda") as judge:
        for name, mistake in chosen.items():
            with _settings(mistake.settings):
                wrong += not _answered(judge, task, name, mistake)
    print(f"answered as they should be: {len(chosen) - wrong}/{len(chosen)}")
    return int(wrong > 0)


def _answered(judge: Judge, task: object, name: str, mistake: Mistake) -> bool:
    start = time.perf_counter()
    try:
        verdict = judge.judge(task, mistake.source)  # type: ignore[arg-type]
        status, message = str(verdict.status), verdict.message
        if verdict.accepted:
            message += f" (build {verdict.seconds['build']:.2f} s)"
    except Exception as error:
        status, message = type(error).__name__, str(error)
    good = status == mistake.expect and mistake.words in message
    took = time.perf_counter() - start
    print(f"{' ' if good else '!'} {name:20} {status:16} {took:5.1f} s  {' '.join(message.split())[:160]}", flush=True)
    return good


@contextmanager
def _settings(chosen: dict[str, str]):
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
