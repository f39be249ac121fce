"""Every candidate of a run in the order in which it was judged: what was asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelwright.archive import Cell, Choice, Entry, Repair, choice_from_json, in_words
from kernelwright.report.page._words import Speed
from kernelwright.store import Birth, Judged, Records, Run

# What an archive is told about a candidate when it is judged; the rest is about candidates it knows.
EVALUATIONS = ("offer", "failed")
# What a kernel is timed against: the reference as it is, or the project as it is.
EAGER, ORIGINAL = "eager", "original"


@dataclass(frozen=True)
class Ruling:
    """Of a verdict what a page shows."""

    status: str
    accepted: bool
    message: str
    speeds: Mapping[str, Speed]

    @property
    def speed(self) -> Speed | None:
        """Over the baseline that a search goes by."""
        return self.speeds.get(EAGER) or self.speeds.get(ORIGINAL)

    @classmethod
    def of(cls, verdict: Mapping[str, Any]) -> Ruling:
        found = verdict.get("speedup") or {}
        speeds = {name: Speed(each["ratio"], each["low"], each["high"]) for name, each in found.items() if each}
        return cls(str(verdict["status"]), bool(verdict["accepted"]), str(verdict.get("message", "")), speeds)


@dataclass(frozen=True)
class Attempt:
    """A candidate that was judged. `number`: how many evaluations there had been, this one included.

    `speed` is what was measured first; an elite may have been measured again since.
    """

    number: int
    candidate: str
    came_of: Choice | Repair | None
    genome: str | None
    cell: Cell | None
    ruling: Ruling

    @property
    def parent(self) -> str | None:
        return self.came_of.parent if self.came_of else None

    @property
    def kind(self) -> str:
        return "draft" if self.came_of is None else "repair" if isinstance(self.came_of, Repair) else "improve"

    @property
    def asked(self) -> str:
        if isinstance(self.came_of, Choice):
            return in_words(self.came_of.direction)
        return "a first draft" if self.came_of is None else "a repair"

    @property
    def speed(self) -> Speed | None:
        return self.ruling.speed if self.ruling.accepted else None


class Register:
    """Births and verdicts of a run by candidate: the first of each counts, as it does to the search.

    `machine`: the one that judged, where a verdict describes it.
    """

    def __init__(self, records: Records, run: Run) -> None:
        self._records, self._run = records, run
        self._births: dict[str, Birth] = {}
        self._rulings: dict[str, Ruling] = {}
        self.machine: Mapping[str, Any] = {}
        for birth in records.births(run.id):
            self._births.setdefault(birth.candidate, birth)

    def hear(self, judged: Judged) -> None:
        if judged.candidate not in self._rulings:
            self._rulings[judged.candidate] = Ruling.of(judged.verdict)
        self.machine = self.machine or judged.verdict.get("machine") or {}

    def attempt(self, number: int, move: Mapping[str, Any]) -> Attempt:
        entry = Entry.from_json(move["entry"]) if move["event"] == "offer" else None
        name = entry.candidate if entry else str(move["candidate"])
        birth = self._births.get(name)
        return Attempt(
            number,
            name,
            choice_from_json(birth.direction if birth else None),
            birth.genome if birth else None,
            entry.cell if entry else None,
            self._ruling(name),
        )

    def _ruling(self, candidate: str) -> Ruling:
        """Texts that an earlier run had judged have no verdict in this one."""
        if candidate not in self._rulings:
            earlier = next(iter(self._records.judged(candidate, self._run.task)))
            self._rulings[candidate] = Ruling.of(earlier.verdict)
        return self._rulings[candidate]
