"""A small world: kernels whose speed stands in their text, a judge that reads it, a model that writes it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable

from kernelwright.fleet import Job, Kind, Result
from kernelwright.propose import Reply, Request

KERNEL = '''```python
import torch

from kernelwright import native

# number {number}
lib = native.cpp(r"""
extern "C" void scale(const float* x, float* y, long n) {{
{team}    for (long i = 0; i < n; i++) y[i] = {speed}f * x[i];
}}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.scale(x, y, x.numel())
        return y
```'''


def kernel(speed: float, number: object = 0, *, team: bool = False) -> str:
    """An answer that holds a kernel of this speed; a negative one is wrong. `team`: of another cell."""
    return KERNEL.format(speed=speed, number=number, team="#pragma omp parallel for\n" if team else "")


def speed_of(source: str) -> float:
    found = re.search(r"= (-?[\d.]+)f", source)
    assert found
    return float(found.group(1))


def verdict(
    candidate: str, ratio: float, width: float = 0.01, baselines: tuple[str, ...] = ("eager",)
) -> dict[str, object]:
    accepted = ratio > 0
    speedup = {"ratio": ratio, "low": ratio * (1 - width), "high": ratio * (1 + width)}
    return {
        "status": "CORRECT" if accepted else "WRONG_VALUE",
        "accepted": accepted,
        "message": "correct" if accepted else "7 of 8 elements wrong",
        "time_ms": {"candidate": 1 / ratio, **dict.fromkeys(baselines, 1.0)} if accepted else {},
        "speedup": dict.fromkeys(baselines, speedup) if accepted else {},
        "seconds": {"total": 2.0},
        "evidence": {},
        "candidate": candidate,
    }


def profile(bottleneck: str) -> dict[str, object]:
    paragraph = f"Bottleneck: {bottleneck}. Try another way."
    return {"bottleneck": {"name": bottleneck}, "paragraph": paragraph, "facts": {"vector_bits": 512}}


class Courts:
    """A fleet whose verdicts stand in the texts. `heard` and `profiled`: the jobs that it has done.

    Args:
        luck: What a measurement is multiplied by.
        faults: So many jobs are INFRA first.
        bottleneck: What a profile finds.
    """

    def __init__(
        self,
        luck: Callable[[Job], float] = lambda job: 1.0,
        faults: int = 0,
        bottleneck: Callable[[Job], str] = lambda job: "serial",
    ) -> None:
        self._waiting: list[Job] = []
        self._luck, self._faults, self._bottleneck = luck, faults, bottleneck
        self.heard: list[Job] = []
        self.profiled: list[Job] = []

    def submit(self, job: Job) -> None:
        if job not in self._waiting:
            self._waiting.append(job)

    def finished(self, timeout: float) -> Iterable[Result]:
        if not self._waiting:
            return []
        job = self._waiting.pop(0)
        if self._faults:
            self._faults -= 1
            return [self._result(job, Kind.INFRA, reason="the machine coughed")]
        if job.profile_of is not None:
            self.profiled.append(job)
            return [self._result(job, Kind.PROFILED, profile=profile(self._bottleneck(job)))]
        self.heard.append(job)
        told = verdict(job.candidate, speed_of(job.source) * self._luck(job), baselines=job.baselines)
        return [self._result(job, Kind.JUDGED, verdict=told)]

    def _result(self, job: Job, kind: Kind, **what: object) -> Result:
        return Result.of(job, kind, where="court", judge="1", **what)

    def close(self) -> None: ...


class Left(Exception):
    """A run was left in the middle."""


class Frail(Courts):
    """A fleet that is gone after so many results, profiles included."""

    def __init__(self, life: int) -> None:
        super().__init__()
        self._life = life

    def finished(self, timeout: float) -> Iterable[Result]:
        found = list(super().finished(timeout))
        self._life -= len(found)
        if self._life < 0:
            raise Left
        return found


class Writer:
    """A model whose answer to a request depends on its id and its parent alone."""

    def __init__(self, answer: Callable[[Request, random.Random], str]) -> None:
        self._answer = answer
        self.asked: list[Request] = []

    def propose(self, request: Request) -> Reply:
        self.asked.append(request)
        text = self._answer(request, random.Random(request.id))
        return Reply(text=text, model="writer", tokens_in=10, tokens_out=5, dollars=0.01, seconds=0.0, finish="stop")


def climbing(request: Request, rng: random.Random) -> str:
    """A little better or worse than its parent; one in five is wrong."""
    if request.kind == "rewrite":
        return "no edits"
    before = speed_of(request.parent) if request.parent else 1.0
    after = abs(before) * rng.uniform(0.8, 1.4)
    return kernel(round(-after if rng.random() < 0.2 else after, 4), request.id)
