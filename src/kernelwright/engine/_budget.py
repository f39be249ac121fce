"""What a run may spend, and when the first part of it will run out. What it has spent is counted by the store."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kernelwright.store import Spent

WORDS = {
    "evaluations": "evaluations",
    "tokens": "tokens",
    "dollars": "dollars",
    "wall_seconds": "seconds of wall time",
    "judge_seconds": "seconds of judging",
}


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most that may be spent of each; None where there is no limit."""

    evaluations: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    wall_seconds: float | None = None
    judge_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, most in self.limits().items():
            if not most > 0:
                raise ValueError(f"a budget of {most:g} {WORDS[name]} is nothing to run on; give a positive number")
        if not self.limits():
            raise ValueError(f"a run needs a limit; set at least one of {', '.join(WORDS)}")

    def limits(self) -> dict[str, float]:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: most for name, most in found.items() if most is not None}


@dataclass(frozen=True)
class Forecast:
    """Which part of the budget runs out first, and in how many seconds at the pace so far."""

    part: str
    seconds: float


def used(spent: Spent) -> dict[str, float]:
    """What is gone, in the parts of a budget; seeds have one of their own, and take nothing but time from it."""
    return {
        "evaluations": spent.evaluations - spent.seeds,
        "tokens": spent.tokens_in + spent.tokens_out,
        "dollars": spent.dollars,
        "wall_seconds": spent.wall_seconds,
        "judge_seconds": spent.judge_seconds,
    }


def exhausted(budget: Budget, spent: Spent) -> str | None:
    """The sentence that ends the run, if a part of the budget is used up."""
    gone = used(spent)
    for name, most in budget.limits().items():
        if gone[name] >= most:
            return f"the budget of {most:g} {WORDS[name]} is used up"
    return None


def room_for(budget: Budget, spent: Spent, under_way: int) -> bool:
    """Whether one more candidate may be asked for beside those that are on their way to the judge."""
    if exhausted(budget, spent) or _late(budget, spent, under_way):
        return False
    return budget.evaluations is None or used(spent)["evaluations"] + under_way < budget.evaluations


def _late(budget: Budget, spent: Spent, under_way: int) -> bool:
    """Whether the time will be up before all that are under way are judged, at the pace so far.

    Several judges at once need less wall time than they judge; a judge who waits for a model judges less than passes.
    """
    if budget.wall_seconds is None or not spent.evaluations:
        return False
    pace = min(spent.judge_seconds, spent.wall_seconds) / spent.evaluations
    return under_way > 0 and spent.wall_seconds + under_way * pace >= budget.wall_seconds


def forecast(budget: Budget, spent: Spent) -> Forecast | None:
    """None while nothing was spent: there is no pace yet."""
    gone, passed = used(spent), spent.wall_seconds
    if passed <= 0:
        return None
    left = [
        Forecast(name, (most - gone[name]) * passed / gone[name])
        for name, most in budget.limits().items()
        if gone[name] > 0
    ]
    return min(left, key=lambda one: one.seconds, default=None)
