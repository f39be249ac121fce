"""Kernels that failed and might be mended. They are never elites and never parents of anything but repairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from kernelwright.archive._choice import Choice, Repair
from kernelwright.archive._error import ArchiveError

MOST = 64
ATTEMPTS = 2
# A repair of a repair of a repair that is still broken is given up.
DEEPEST = 3
# After so many failures since, a failure counts half.
HALF_LIFE = 16


@dataclass(frozen=True)
class Broken:
    """One failed kernel.

    Args:
        promise: How far it came, from 0 (no code) to 1 (all but right), as whoever judged it sees it.
        asked: The choice that it was meant to answer; None for a draft.
        depth: How many repairs came before in its line. `attempts`: how many were made of it.
        since: When it came, counted in failures.
    """

    candidate: str
    promise: float
    asked: Choice | None
    depth: int
    since: int
    attempts: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Broken:
        return cls(**(told | {"asked": Choice.from_json(told["asked"]) if told["asked"] else None}))


class RepairPool:
    """The broken kernels worth another look, newest and most promising first; bounded."""

    def __init__(self) -> None:
        self._broken: dict[str, Broken] = {}
        self._failures = 0

    def __len__(self) -> int:
        return len(self._broken)

    def __iter__(self) -> Iterator[Broken]:
        """From the one to repair next to the one to forget next."""
        return iter(
            sorted(self._broken.values(), key=lambda broken: (self._priority(broken), broken.since), reverse=True)
        )

    def add(self, candidate: str, promise: float, asked: Choice | None, depth: int) -> None:
        """Takes a failure in, unless it is known or its line has been repaired often enough."""
        if not 0 <= promise <= 1:
            raise ArchiveError(
                f"candidate {candidate[:12]}: promise {promise} must lie between 0 (no code) and 1 (all but right)"
            )
        self._failures += 1
        if candidate not in self._broken and depth < DEEPEST:
            self._broken[candidate] = Broken(candidate, promise, asked, depth, self._failures)
        if len(self) > MOST:
            del self._broken[list(self)[-1].candidate]

    def tried(self, candidate: str, *, mended: bool) -> None:
        """A repair of this one came back. It leaves when it was mended or has had its chances."""
        broken = self._broken.pop(candidate, None)
        if broken is not None and not mended and broken.attempts + 1 < ATTEMPTS:
            self._broken[candidate] = replace(broken, attempts=broken.attempts + 1)

    def next(self, busy: Collection[str] = ()) -> Repair | None:
        """The one to repair now, leaving out those that are being repaired."""
        for broken in self:
            if broken.candidate not in busy:
                return Repair(broken.candidate, self._why(broken), broken.asked, broken.depth)
        return None

    def _why(self, broken: Broken) -> str:
        return (
            f"The most promising of {len(self)} broken kernels: it came {broken.promise:.0%} of the way, "
            f"and this is attempt {broken.attempts + 1} of {ATTEMPTS} to repair it."
        )

    def _priority(self, broken: Broken) -> float:
        """Its promise, halved with every attempt and with age."""
        return broken.promise * math.exp2(-broken.attempts - (self._failures - broken.since) / HALF_LIFE)

    def to_json(self) -> dict[str, Any]:
        return {"failures": self._failures, "broken": [broken.to_json() for broken in self._broken.values()]}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> RepairPool:
        pool = cls()
        pool._failures = told["failures"]
        pool._broken = {each["candidate"]: Broken.from_json(each) for each in told["broken"]}
        return pool
