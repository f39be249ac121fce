"""The archive: the best kernel known of every strategy, and what was learned on the way.

Knows hashes and numbers; runs nothing, reads nothing, writes nothing. What it is told is told in four verbs, and
telling it the same again in the same order makes the same archive: that is how a run is resumed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from kernelwright.archive._cell import CELLS, Cell, to_cell
from kernelwright.archive._choice import Choice, Repair, asked_for, choice_from_json
from kernelwright.archive._entry import Entry, beats
from kernelwright.archive._error import ArchiveError
from kernelwright.archive._inspirations import inspirations
from kernelwright.archive._repair_pool import RepairPool
from kernelwright.archive._transitions import Transitions


class Outcome(StrEnum):
    """What became of a kernel that was offered."""

    PLACED = "placed"
    REJECTED = "rejected"
    CONTESTED = "contested"


@dataclass(frozen=True)
class Contest:
    """A challenger that looked faster than its cell's elite and waits for both to be measured again.

    `asked`: the choice that it answers, None for a draft. `transition`: the number of the record to correct then.
    """

    entry: Entry
    asked: Choice | None
    transition: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Contest:
        asked = Choice.from_json(told["asked"]) if told["asked"] else None
        return cls(Entry.from_json(told["entry"]), asked, told["transition"])


class Archive:
    """Sixty-four cells, each with at most one elite; a pool of failures to repair; a history of transitions.

    An empty cell takes any accepted kernel. In a filled one a challenger that looks faster is `CONTESTED`: both are
    measured again side by side, and it takes the cell only if the interval on the difference says so. An elite that was
    measured again is worth what it was found to be worth then, not what luck once made of it.

    `corrections` is by how much re-measurements have moved the QD score in sum, without any elite changing. Less these,
    the QD score never falls; where measurements are exact, there are none.
    """

    def __init__(self) -> None:
        self.pool = RepairPool()
        self.history = Transitions()
        self.corrections = 0.0
        self.results = 0
        self.repairs = 0
        self._elites: dict[Cell, Entry] = {}
        self._contests: dict[str, Contest] = {}
        self._children: Counter[str] = Counter()

    # What is known

    @property
    def elites(self) -> Mapping[Cell, Entry]:
        return MappingProxyType(self._elites)

    @property
    def contests(self) -> list[Entry]:
        """Challengers still to be measured beside their cell's elite, oldest first."""
        return [contest.entry for contest in self._contests.values()]

    @property
    def children(self) -> Mapping[str, int]:
        """How many results were built on each kernel, failed ones too, by its hash; repairs are not counted."""
        return MappingProxyType(self._children)

    @property
    def coverage(self) -> float:
        """The share of cells that are filled."""
        return len(self._elites) / len(CELLS)

    @property
    def qd_score(self) -> float:
        """Sum over the elites of log speedup above `FLOOR`."""
        return sum(elite.score for elite in self._elites.values())

    @property
    def best(self) -> Entry | None:
        """The fastest elite. The largest of many measurements is a lucky one: measure it again before you boast."""
        return max(self._elites.values(), key=lambda elite: elite.log_speedup, default=None)

    def inspirations(self, cell: Cell, number: int, rng: random.Random) -> list[Entry]:
        """Elites of other cells worth showing beside this one's: near and good, and one from afar."""
        return inspirations(self._elites, cell, number, rng)

    # What it is told

    def offer(self, entry: Entry, came_of: Choice | Repair | None = None) -> Outcome:
        """An accepted kernel, and the choice that it came of; None for a draft."""
        outcome = self._placing(entry)
        number = self._result(entry, came_of, placed=outcome is Outcome.PLACED)
        if outcome is Outcome.PLACED:
            self._elites[entry.cell] = entry
        elif outcome is Outcome.CONTESTED:
            self._contests.setdefault(entry.candidate, Contest(entry, asked_for(came_of), number))
        return outcome

    def settle(self, cell: Cell, challenger: str, elite_again: Entry, challenger_again: Entry) -> Outcome:
        """Both of a contest were measured again, side by side.

        `CONTESTED` again: meanwhile the cell has gone to a third, which the challenger has not been measured beside.
        """
        contest = self._contest(cell, challenger, elite_again, challenger_again)
        if elite_again.candidate != self._elites[cell].candidate:
            return self._contest_again(contest, challenger_again)
        self.remeasured(elite_again)
        won = beats(challenger_again, elite_again)
        if won:
            self._elites[cell] = challenger_again
        self._correct(contest, elite_again, challenger_again, won)
        return Outcome.PLACED if won else Outcome.REJECTED

    def remeasured(self, entry: Entry) -> None:
        """An elite was measured again; from now on this is what it is worth."""
        elite = self._elites.get(entry.cell)
        if elite is None or elite.candidate != entry.candidate:
            raise ArchiveError(
                f"candidate {entry.candidate[:12]} is not the elite of cell {entry.cell}; measure the one that is"
            )
        self.corrections += entry.score - elite.score
        self._elites[entry.cell] = entry

    def failed(self, candidate: str, promise: float | None, came_of: Choice | Repair | None = None) -> None:
        """A kernel was rejected. `promise`: how far it came, 0 to 1; None: not to be repaired, as a cheat.

        A challenger that fails when it is measured again has lost its contest, and that is all.
        """
        if self._contests.pop(candidate, None) is not None:
            return
        depth = came_of.depth + 1 if isinstance(came_of, Repair) else 0
        if promise is not None:
            self.pool.add(candidate, promise, asked_for(came_of), depth)
        self._result(None, came_of, placed=False)

    def replay(self, event: Mapping[str, Any]) -> None:
        """One stored event: `event` names the verb, the rest are its arguments as their `to_json` told them."""
        known = {"offer": self._offer, "failed": self._failed, "confirmed": self._confirmed, "remeasured": self._again}
        name = event.get("event", "")
        if name not in known:
            raise ArchiveError(f"no event {name!r} in an archive's life; known: {', '.join(known)}")
        with _readable(f"a stored event {name!r}", "store what `to_json` of its arguments tells"):
            known[name](event)

    # How it decides

    def _placing(self, entry: Entry) -> Outcome:
        elite = self._elites.get(entry.cell)
        if elite is None:
            return Outcome.PLACED
        faster = entry.candidate != elite.candidate and entry.log_speedup > elite.log_speedup
        return Outcome.CONTESTED if faster else Outcome.REJECTED

    def _result(self, entry: Entry | None, came_of: Choice | Repair | None, *, placed: bool) -> int:
        """Counts a result and records the transition; gives its number, 0 for a draft, which is none."""
        self.results += 1
        if isinstance(came_of, Repair):
            self.repairs += 1
            self.pool.tried(came_of.parent, mended=entry is not None)
        if isinstance(came_of, Choice):
            self._children[came_of.parent] += 1
        asked = asked_for(came_of)
        if asked is None:
            return 0
        gain = entry.log_speedup - asked.log_speedup if entry else None
        return self.history.record(asked, landed=entry.cell if entry else None, gain=gain, placed=placed)

    def _contest(self, cell: Cell, challenger: str, elite_again: Entry, challenger_again: Entry) -> Contest:
        """Takes the contest off the list, if this is really a measurement of it."""
        contest = self._contests.get(challenger)
        if contest is None or not contest.entry.cell == cell == elite_again.cell == challenger_again.cell:
            raise ArchiveError(f"candidate {challenger[:12]} does not contest cell {cell}; offer it first")
        if challenger_again.candidate != challenger:
            raise ArchiveError(
                f"candidate {challenger_again.candidate[:12]} was measured in place of {challenger[:12]}; "
                "measure the challenger and the elite of its cell"
            )
        return self._contests.pop(challenger)

    def _contest_again(self, contest: Contest, challenger_again: Entry) -> Outcome:
        outcome = self._placing(challenger_again)
        if outcome is Outcome.CONTESTED:
            self._contests[challenger_again.candidate] = replace(contest, entry=challenger_again)
        return outcome

    def _correct(self, contest: Contest, elite_again: Entry, challenger_again: Entry, won: bool) -> None:
        """Gain over the parent; as measured beside it where that is the elite, so without another day's luck."""
        asked = contest.asked
        if asked is not None:
            before = elite_again if elite_again.candidate == asked.parent else asked
            gain = challenger_again.log_speedup - before.log_speedup
            self.history.correct(contest.transition, gain=gain, placed=won)

    # Events and state

    def _offer(self, event: Mapping[str, Any]) -> None:
        self.offer(Entry.from_json(event["entry"]), choice_from_json(event["came_of"]))

    def _failed(self, event: Mapping[str, Any]) -> None:
        self.failed(event["candidate"], event["promise"], choice_from_json(event["came_of"]))

    def _confirmed(self, event: Mapping[str, Any]) -> None:
        again = Entry.from_json(event["elite_again"]), Entry.from_json(event["challenger_again"])
        self.settle(to_cell(event["cell"]), event["challenger"], *again)

    def _again(self, event: Mapping[str, Any]) -> None:
        self.remeasured(Entry.from_json(event["entry"]))

    def to_json(self) -> dict[str, Any]:
        return {
            "elites": [elite.to_json() for elite in self._elites.values()],
            "contests": [contest.to_json() for contest in self._contests.values()],
            "pool": self.pool.to_json(),
            "history": self.history.to_json(),
            "corrections": self.corrections,
            "results": self.results,
            "repairs": self.repairs,
            "children": dict(self._children),
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Archive:
        archive = cls()
        with _readable("the stored state of the archive", "replay the run's events instead"):
            archive._take_over(told)
        return archive

    def _take_over(self, told: dict[str, Any]) -> None:
        elites = [Entry.from_json(each) for each in told["elites"]]
        contests = [Contest.from_json(each) for each in told["contests"]]
        self._elites = {elite.cell: elite for elite in elites}
        self._contests = {contest.entry.candidate: contest for contest in contests}
        self.pool = RepairPool.from_json(told["pool"])
        self.history = Transitions.from_json(told["history"])
        self.corrections, self.results, self.repairs = told["corrections"], told["results"], told["repairs"]
        self._children = Counter(told["children"])


@contextmanager
def _readable(what: str, fix: str) -> Iterator[None]:
    """Turns what JSON of the wrong form does into a sentence."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise ArchiveError(f"{what} cannot be read ({type(error).__name__}: {error}); {fix}") from error
