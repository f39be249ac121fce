"""What a run may spend, what it has spent, and when the first of it will run out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

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


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What is gone. `unpriced`: replies whose price nobody knows; they are not free."""

    evaluations: int = 0
    tokens: int = 0
    dollars: float = 0.0
    wall_seconds: float = 0.0
    judge_seconds: float = 0.0
    unpriced: int = 0

    def with_reply(self, tokens: int, dollars: float | None) -> Spent:
        return replace(
            self,
            tokens=self.tokens + tokens,
            dollars=self.dollars + (dollars or 0.0),
            unpriced=self.unpriced + (dollars is None),
        )

    def with_verdict(self, judge_seconds: float) -> Spent:
        return replace(self, evaluations=self.evaluations + 1, judge_seconds=self.judge_seconds + judge_seconds)

    def after(self, seconds: float) -> Spent:
        return replace(self, wall_seconds=self.wall_seconds + seconds)


@dataclass(frozen=True)
class Forecast:
    """Which part of the budget runs out first, and in how many seconds at the pace so far."""

    part: str
    seconds: float


def exhausted(budget: Budget, spent: Spent) -> str | None:
    """The sentence that ends the run, if a part of the budget is used up."""
    for name, most in budget.limits().items():
        if getattr(spent, name) >= most:
            return f"the budget of {most:g} {WORDS[name]} is used up"
    return None


def room_for(budget: Budget, spent: Spent, under_way: int) -> bool:
    """Whether one more candidate may be asked for beside those that are on their way to the judge."""
    if exhausted(budget, spent):
        return False
    return budget.evaluations is None or spent.evaluations + under_way < budget.evaluations


def forecast(budget: Budget, spent: Spent) -> Forecast | None:
    """None while nothing was spent: there is no pace yet."""
    if spent.wall_seconds <= 0:
        return None
    left = [
        Forecast(name, (most - getattr(spent, name)) / (getattr(spent, name) / spent.wall_seconds))
        for name, most in budget.limits().items()
        if getattr(spent, name) > 0
    ]
    return min(left, key=lambda one: one.seconds, default=None)
