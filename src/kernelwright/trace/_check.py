"""What winners are worth to the whole program: runs with and without them take turns, each in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.tasks import Task
from kernelwright.trace._error import TraceError
from kernelwright.trace._outputs import Agreement, agreement
from kernelwright.trace._program import Program

if TYPE_CHECKING:
    from kernelwright.report import Difference

ROUNDS = 6


@dataclass(frozen=True)
class Accepted:
    """A kernel that the judge has accepted for this task. Whoever makes one answers for it."""

    task: Task
    candidate: str
    called: str

    def to_wire(self) -> dict[str, Any]:
        return {"task": self.task.to_wire(), "candidate": self.candidate}


@dataclass(frozen=True)
class Swapped:
    """How many calls a winner took, and how many it left alone, for which reasons."""

    called: str
    calls: int
    left_alone: dict[str, int]


@dataclass(frozen=True)
class Check:
    """The whole program with winners against the program as it is.

    Attributes:
        original, changed: Seconds of each run, pair by pair.
        log_ratio: Of original over changed, with its 95 % interval.
        preparing: Seconds that a changed run spends on finding out where winners fit and loading them; counted in.
    """

    swapped: tuple[Swapped, ...]
    original: tuple[float, ...]
    changed: tuple[float, ...]
    log_ratio: Difference
    preparing: float
    outputs: Agreement

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio.value)

    @property
    def low(self) -> float:
        return math.exp(self.log_ratio.low or 0.0)

    @property
    def high(self) -> float:
        return math.exp(self.log_ratio.high or 0.0)

    @property
    def shown(self) -> bool:
        """Whether the program is faster, so far as these runs can tell."""
        return self.log_ratio.low is not None and self.log_ratio.low > 0


def check(
    program: Program, winners: Sequence[Accepted], *, rounds: int = ROUNDS, tell: Callable[[str], None] = lambda _: None
) -> Check:
    """Raises TraceError where a winner was made for another program, or takes no call of this one."""
    wire = [winner.to_wire() for winner in winners]
    tell("comparing outputs")
    with (
        program.ran("original", quiet=True, outputs=True) as (_, here),
        program.ran("changed", quiet=True, outputs=True, winners=wire) as (found, there),
    ):
        swapped = _swapped(winners, found["swapped"], program)
        outputs = agreement(here / "outputs.pt", there / "outputs.pt", lambda: _again(program, here))
    runs: dict[str, list[dict[str, Any]]] = {"original": [], "changed": []}
    for number in range(rounds):
        tell(f"timing, round {number + 1} of {rounds}")
        for role in ("original", "changed") if number % 2 == 0 else ("changed", "original"):
            runs[role].append(program.found(role, quiet=True, winners=wire))
    original, changed = (tuple(run["seconds"] for run in runs[role]) for role in ("original", "changed"))
    logs = tuple(math.log(one / other) for one, other in zip(original, changed, strict=True))
    # Reports bring a database along, which the program's processes, importing this package too, do not need.
    from kernelwright.report import Paired, difference

    preparing = sum(run["preparing"] for run in runs["changed"]) / rounds
    return Check(swapped, original, changed, difference([Paired(logs)]), preparing, outputs)


def _again(program: Program, first: Path) -> Agreement:
    """How far the program agrees with itself."""
    with program.ran("original", quiet=True, outputs=True) as (_, again):
        return agreement(first / "outputs.pt", again / "outputs.pt", None)


def _swapped(winners: Sequence[Accepted], found: list[dict[str, Any]], program: Program) -> tuple[Swapped, ...]:
    swapped = tuple(
        Swapped(winner.called, told["calls"], told["left_alone"]) for winner, told in zip(winners, found, strict=True)
    )
    for one in swapped:
        if not one.calls:
            raise TraceError(_never_took(one, program), "trace the program again, and search on the task it writes")
    return swapped


def _never_took(one: Swapped, program: Program) -> str:
    if not one.left_alone:
        return f"{one.called} takes no call in {program.script}: the program never calls a module of its task's class"
    reasons = "; ".join(f"{calls} calls: {why}" for why, calls in one.left_alone.items())
    return f"{one.called} takes no call in {program.script}: {reasons}"
