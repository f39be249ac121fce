"""The course of a search: what it had spent, and the best it knew, after every judged candidate."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from kernelwright.archive import Archive
from kernelwright.store import SEED, Records, Run

# What is told to an archive about a candidate that was judged for the first time.
_EVALUATIONS = ("offer", "failed")
_ALTERNATIVES = " + "


class CourseError(Exception):
    """A run cannot be followed that way: one sentence, and what to do next."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True)
class Step:
    """After so much was spent, the best known log speedup was this; None: nothing was accepted yet."""

    spent: float
    best: float | None


@dataclass(frozen=True)
class Course:
    """One run, followed along one kind of budget.

    Attributes:
        facts: What it was about and how it was made: task, device, judge, backend, model, method, seeding, without.
        steps: In order of what was spent. `spent`: in all.
        known_before: Candidates whose verdict another run had paid for.
    """

    run: str
    seed: int
    facts: Mapping[str, str]
    steps: tuple[Step, ...]
    spent: float
    known_before: int = 0

    def best_at(self, budget: float) -> float | None:
        """The best known once so much was spent."""
        passed = bisect_right(self.steps, budget, key=lambda step: step.spent)
        return self.steps[passed - 1].best if passed else None


Costs = Callable[[Records, str], Iterable[tuple[float, float]]]


def _tokens(records: Records, run: str) -> Iterator[tuple[float, float]]:
    return ((reply.noted, reply.tokens_in + reply.tokens_out) for reply in records.replies(run))


def _dollars(records: Records, run: str) -> Iterator[tuple[float, float]]:
    for reply in records.replies(run):
        if reply.dollars is None:
            raise CourseError(f"run {run} has replies of which no price is known", "compare by tokens instead")
        yield reply.noted, reply.dollars


def _judge_seconds(records: Records, run: str) -> Iterator[tuple[float, float]]:
    return ((judged.noted, judged.seconds) for judged in records.verdicts(run) if judged.used)


def _answers(records: Records, run: str) -> Iterator[tuple[float, float]]:
    """What a program writes as seeds, no model has answered."""
    seeds = _seeds(records, run)
    return ((reply.noted, 1.0) for reply in records.replies(run) if reply.request not in seeds)


# What each kind of budget is spent on, and when; evaluations are counted from the moves themselves.
ANSWERS = "answers"
_COSTS: Mapping[str, Costs] = {
    ANSWERS: _answers,
    "tokens": _tokens,
    "dollars": _dollars,
    "judge-seconds": _judge_seconds,
}
EVALUATIONS = "evaluations"
BUDGETS = (EVALUATIONS, *_COSTS)
# Those that are counted in whole numbers.
COUNTED = (EVALUATIONS, ANSWERS)


def course(records: Records, run: Run, budget: str = EVALUATIONS) -> Course:
    """Follows a run of a store."""
    moves = list(_moves(records, run.id))
    if budget == EVALUATIONS:
        steps = tuple(Step(number, best) for number, best, _ in moves)
        spent: float = steps[-1].spent if steps else 0
    else:
        costs = sorted(_COSTS[budget](records, run.id))
        times, sums = [noted for noted, _ in costs], [0.0, *accumulate(cost for _, cost in costs)]
        steps = tuple(Step(sums[bisect_right(times, when)], best) for _, best, when in moves)
        spent = sums[-1]
    known = len({birth.candidate for birth in records.births(run.id)} - _judged(records, run.id))
    return Course(run.id, int(run.settings["seed"]), _facts(records, run), steps, spent, known)


def _moves(records: Records, run: str) -> Iterator[tuple[int, float | None, float]]:
    """After every move: how many candidates were judged, the best known, and the time of day."""
    archive = Archive()
    seen: set[str] = set()
    for move in records.moves(run):
        archive.replay(move.data)
        if move.kind in _EVALUATIONS:
            seen.add(move.candidate)
        best = archive.best
        yield len(seen), best.log_speedup if best else None, move.noted


def _judged(records: Records, run: str) -> set[str]:
    return {judged.candidate for judged in records.verdicts(run) if judged.used}


def _facts(records: Records, run: Run) -> dict[str, str]:
    """Whether a run was seeded is told by what came of it: one that could not be is like one that was not to be."""
    wire: dict[str, Any] = records.task(run.task) or {}
    verdicts = [judged for judged in records.verdicts(run.id) if judged.used]
    seeds = _seeds(records, run.id)
    replies = list(records.replies(run.id))
    return {
        "task": f"{wire.get('name', 'task')} {run.task[:8]}",
        "device": _all(judged.device for judged in verdicts),
        "judge": _all(judged.judge for judged in verdicts),
        "backend": str(run.settings["backend"]),
        "model": _all(reply.model for reply in replies if reply.request not in seeds),
        "method": str(run.settings["search"]),
        "seeding": "seeded" if any(reply.request in seeds for reply in replies) else "",
        "without": ", ".join(sorted(set(run.settings["without"]) - {"seeding"})),
    }


def _seeds(records: Records, run: str) -> set[str]:
    return {asked.id for asked in records.requests(run) if asked.kind == SEED}


def _all(names: Iterable[str]) -> str:
    return _ALTERNATIVES.join(sorted(set(names))) or "unknown"
