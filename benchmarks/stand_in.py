"""A model and a judge that cost nothing but the time they are told to take: what is left is the engine's own."""

from __future__ import annotations

import math
import random
import time
from typing import Any, ClassVar

from kernelwright.judge import Status, Verdict, source_hash
from kernelwright.prompts import seed
from kernelwright.propose import Reply, Request, parse
from kernelwright.tasks import Task

LONG_LINE = 40
KERNEL = '''```python
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

// number {number}
extern "C" void relu(const float* x, float* y, int64_t n) {{
    {pragma}
    for (int64_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu(x, y, x.numel())
        return y
```'''
EDIT = "<<<<<<< SEARCH\n{line}\n=======\n{line} Or number {number}.\n>>>>>>> REPLACE\n"
ADVICE = next(line for line in seed("cpp").strategies.splitlines() if len(line) > LONG_LINE)
PRAGMAS = ("", "#pragma omp simd", "#pragma omp parallel for", "#pragma omp parallel for simd")
REJECTED = 0.2
SAMPLES, BASELINES = 120, ("candidate", "eager")


class Model:
    """Answers every request with a kernel of its own, after so many seconds. `answered`: when, by candidate."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.answered: dict[str, float] = {}

    def propose(self, request: Request) -> Reply:
        if self._seconds:
            time.sleep(self._seconds)
        number = int(request.id)
        text = KERNEL.format(number=number, pragma=PRAGMAS[number % len(PRAGMAS)])
        if request.kind == "rewrite":
            text = EDIT.format(line=ADVICE, number=number)
        self.answered[source_hash(parse(text, None).source or "")] = time.monotonic()
        return Reply(text=text, model="stand-in", tokens_in=1, tokens_out=1, dollars=0.0, seconds=0.0, finish="stop")


class StandIn:
    """A judge that takes so many seconds for a verdict as long as a real one. `hearings`: candidate, from, until."""

    seconds = 0.0
    hearings: ClassVar[list[tuple[str, float, float]]] = []

    def __init__(self, **_: Any) -> None: ...

    def judge(self, task: Task, source: str, *, timed: bool, backend: str | None, on_device: bool) -> Verdict:
        start = time.monotonic()
        if self.seconds:
            time.sleep(self.seconds)
        found = _verdict(task, source)
        self.hearings.append((found.candidate, start, time.monotonic()))
        return found

    def close(self) -> None: ...


def _verdict(task: Task, source: str) -> Verdict:
    chance = random.Random(source)
    about: dict[str, Any] = {"task": task.hash, "candidate": source_hash(source), "seconds": {"total": 0.0}}
    if chance.random() < REJECTED:
        return Verdict(status=Status.WRONG_VALUE, stage="check", message="7 of 8 elements wrong", **about)
    ratio = math.exp(chance.gauss(0.0, 0.3))
    speedup = {"eager": {"ratio": ratio, "low": ratio * 0.98, "high": ratio * 1.02}}
    samples = {name: [chance.random() for _ in range(SAMPLES)] for name in BASELINES}
    return Verdict(
        status=Status.CORRECT,
        stage="time",
        message="correct",
        speedup=speedup,
        time_ms={"candidate": 1 / ratio, "eager": 1.0},
        evidence={"backend": "cpp", "timing": [{"case": "given", "weight": 1.0, "samples_ms": [samples]}]},
        **about,
    )
