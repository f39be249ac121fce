"""What came of what was asked: every child of a parent, discounted as it ages.

Age is counted in transitions, not in hours: the same run on a slower machine must choose the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from kernelwright.archive._cell import Cell, Direction, distance, to_cell, to_direction
from kernelwright.archive._choice import Choice

# After so many transitions since, one counts half; the oldest kept count 3 %.
HALF_LIFE = 100
MOST = 500


@dataclass(frozen=True)
class Transition:
    """One child of one parent.

    Args:
        start: The parent's cell. `landed`: the child's, None when it failed.
        asked: The direction asked for, wherever the child landed.
        gain: Log speedup of the child over its parent; None when it failed: no failure is a number.
        placed: Whether it became an elite.
    """

    start: Cell
    landed: Cell | None
    asked: Direction
    gain: float | None
    placed: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Transition:
        landed = None if told["landed"] is None else to_cell(told["landed"])
        return cls(to_cell(told["start"]), landed, to_direction(told["asked"]), told["gain"], told["placed"])


class Tally(NamedTuple):
    """Transitions summed up by weight: how many were tried, accepted and placed, and the gain of the accepted."""

    tried: float = 0.0
    placed: float = 0.0
    accepted: float = 0.0
    gain: float = 0.0

    def plus(self, other: Tally, weight: float = 1.0) -> Tally:
        return Tally(*(mine + weight * its for mine, its in zip(self, other, strict=True)))


Tallies = Mapping[Direction, Mapping[Cell, Tally]]


class Transitions:
    """The latest transitions, by the number each was given."""

    def __init__(self) -> None:
        self._kept: dict[int, Transition] = {}
        self._count = 0

    def __iter__(self) -> Iterator[Transition]:
        return iter(self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def record(self, asked: Choice, *, landed: Cell | None, gain: float | None, placed: bool) -> int:
        """Keeps one more; gives its number."""
        self._count += 1
        self._kept[self._count] = Transition(asked.cell, landed, asked.direction, gain, placed)
        if len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        return self._count

    def correct(self, number: int, *, gain: float, placed: bool) -> None:
        """What a re-measurement made of one that was not decided yet."""
        if number in self._kept:
            self._kept[number] = replace(self._kept[number], gain=gain, placed=placed)

    def tallies(self) -> Tallies:
        """Discounted sums by direction asked for and parent's cell."""
        found: dict[Direction, dict[Cell, Tally]] = defaultdict(lambda: defaultdict(Tally))
        for number, transition in self._kept.items():
            arms = found[transition.asked]
            arms[transition.start] = arms[transition.start].plus(_one(transition), self._weight(number))
        return found

    def usual_rise(self, prior: float, trials: float) -> float:
        """The mean gain of children that gained anything; so many trials of a prior one are counted in."""
        rises = [(self._weight(number), one.gain) for number, one in self._kept.items() if one.gain and one.gain > 0]
        total = sum(weight for weight, _ in rises)
        return (trials * prior + sum(weight * gain for weight, gain in rises)) / (trials + total)

    def _weight(self, number: int) -> float:
        return math.exp2((number - self._count) / HALF_LIFE)

    def to_json(self) -> dict[str, Any]:
        return {"count": self._count, "kept": [each.to_json() for each in self]}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Transitions:
        history = cls()
        history._count = told["count"]
        first = told["count"] - len(told["kept"]) + 1
        history._kept = {number: Transition.from_json(each) for number, each in enumerate(told["kept"], first)}
        return history


def _one(transition: Transition) -> Tally:
    if transition.gain is None:
        return Tally(tried=1.0)
    return Tally(tried=1.0, placed=float(transition.placed), accepted=1.0, gain=transition.gain)


def nearby(tallies: Tallies, cell: Cell, direction: Direction) -> Tally:
    """What a direction did from this cell; from other cells too, half as much with every step away."""
    total = Tally()
    for start, tally in tallies.get(direction, {}).items():
        total = total.plus(tally, math.exp2(-distance(start, cell)))
    return total


def overall(tallies: Tallies) -> Tally:
    total = Tally()
    for starts in tallies.values():
        for tally in starts.values():
            total = total.plus(tally)
    return total
