"""Runs to be told: real ones of the engine, with a judge and a model of the small world."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from kernelwright.engine import Budget, Means, Plan, optimize
from kernelwright.fleet import Result
from kernelwright.propose import Request
from kernelwright.store import Records, Store
from kernelwright.tasks import Task
from tests.engine.world import Courts, Writer, climbing

# Ways to write the loop that stand in different cells, so that an archive is more than one kernel.
LOOP = "    for (long i = 0; i < n; i++)"
WAYS = (LOOP, f"    #pragma omp parallel for\n{LOOP}", f"    #pragma omp simd\n{LOOP}")

Answer = Callable[[Request, random.Random], str]


def varied(request: Request, rng: random.Random) -> str:
    """As `climbing`, in several ways; now and then no kernel at all."""
    if request.kind != "rewrite" and rng.random() < 0.1:
        return "I would rather not."
    return climbing(request, rng).replace(LOOP, rng.choice(WAYS))


class Leaving(Courts):
    """A fleet whose user leaves after so many verdicts, while a new candidate waits for one."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def finished(self, timeout: float) -> Iterable[Result]:
        if len(self.heard) >= self._after and any(job.measurement == 1 for job in self._waiting):
            raise KeyboardInterrupt
        return super().finished(timeout)


def played(
    path: Path | str, task: Task, answer: Answer = varied, *, fleet: Courts | None = None, evaluations: int = 30
) -> str:
    """A whole run into a store at this place, or as far as it comes; its name."""
    plan = Plan(backend="cpp", budget=Budget(evaluations=evaluations), lanes=1)
    with pytest.MonkeyPatch.context() as patch, Store(path) as store:
        patch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
        with contextlib.suppress(KeyboardInterrupt):
            optimize(task, plan, Means(store=store, proposer=Writer(answer), fleet=fleet or Courts()))
    with Records(path) as records:
        return next(iter(records.runs())).id
