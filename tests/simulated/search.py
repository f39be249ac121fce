"""Searches with the simulated model, judged from the table: a whole run of the engine in a second or so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelwright.archive import Archive
from kernelwright.engine import Budget, Found, Means, Plan, optimize
from kernelwright.fleet import Fleet
from kernelwright.report import Course, course
from kernelwright.report._course import Step
from kernelwright.store import Records, Store
from kernelwright.tasks import load_task
from tests.simulated._family import Family
from tests.simulated.model import SimulatedModel
from tests.simulated.table import Table, TableFleet

# Ways to search, as what is said to `search`.
WAYS: dict[str, dict[str, Any]] = {
    "map-elites": {"method": "map-elites"},
    "best-of-n": {"method": "best-of-n"},
    "refine": {"method": "refine"},
    "beam": {"method": "beam"},
    "no-gradients": {"method": "map-elites", "without": ("gradients",)},
    "no-inspirations": {"method": "map-elites", "without": ("inspirations",)},
    "no-prompt-evolution": {"method": "map-elites", "without": ("prompt-evolution",)},
}


def search(
    family: Family,
    store: Path,
    *,
    method: str,
    seed: int,
    evaluations: int,
    without: Sequence[str] = (),
    fleet: Fleet | None = None,
) -> Found:
    """One run into a store of its own: runs that share one share what they learn of advice, too.

    Judged from the family's table, or by another fleet.
    """
    task = load_task(family.task)
    plan = Plan(
        backend="cpp",
        budget=Budget(evaluations=evaluations),
        search=method,
        without=tuple(without),
        lanes=1,
        seed=seed,
    )
    fleet = fleet or TableFleet(family, Table.read(family), task, seed)
    with Store(store) as records:
        return optimize(task, plan, Means(store=records, proposer=SimulatedModel(family, seed), fleet=fleet))


def true_course(family: Family, store: Path) -> Course:
    """The course of the run of a store, by what its best kernel is worth and not by what it was last measured at.

    A search takes a lucky measurement for a better kernel, and the more it measures the luckier it looks.
    """
    table = Table.read(family)
    with Records(store) as records:
        run = next(iter(records.runs()))
        told = course(records, run)
        bests = list(_bests(records, run.id))
        worth = {name: table.log_speedup(family.recognised(_source(records, name))) for name in set(bests) - {None}}
    steps = [Step(step.spent, worth.get(best)) for step, best in zip(told.steps, bests, strict=True)]
    return replace(told, steps=tuple(steps))


def _bests(records: Records, run: str) -> Iterator[str | None]:
    archive = Archive()
    for move in records.moves(run):
        archive.replay(move.data)
        yield archive.best.candidate if archive.best else None


def _source(records: Records, candidate: str) -> str:
    found = records.candidate(candidate)
    assert found is not None
    return found.source
