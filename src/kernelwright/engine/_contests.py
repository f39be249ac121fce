"""Contests: a challenger and the elite of its cell are measured again before one of them has the cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernelwright.archive import Entry
from kernelwright.engine._docket import Docket
from kernelwright.engine._learning import Learning
from kernelwright.engine._past import Past
from kernelwright.engine._verdicts import entry_of

PAIR = 2


@dataclass
class Contest:
    """A challenger and the elite it is measured again with; what has come back of the two."""

    elite: Entry
    challenger: Entry
    again: dict[str, dict[str, Any]] = field(default_factory=dict)


class Contests:
    """Those under way, by challenger; one cell's pair at a time."""

    def __init__(self, learning: Learning, docket: Docket, past: Past) -> None:
        self._learning, self._docket, self._past = learning, docket, past
        self._under_way: dict[str, Contest] = {}

    def call(self) -> None:
        """Begins whatever the archive waits for."""
        archive = self._learning.archive
        cells = {contest.elite.cell for contest in self._under_way.values()}
        for challenger in archive.contests:
            if challenger.candidate not in self._under_way and challenger.cell not in cells:
                cells.add(challenger.cell)
                self._begin(Contest(archive.elites[challenger.cell], challenger))

    def _begin(self, contest: Contest) -> None:
        self._under_way[contest.challenger.candidate] = contest
        for entry in (contest.elite, contest.challenger):
            source, number = self._past.source(entry.candidate), self._past.next_measurement(entry.candidate)
            self._docket.submit(entry.candidate, source, number)

    def measured(self, candidate: str, verdict: dict[str, Any]) -> None:
        """One of a pair was measured again; when both were, the contest is decided."""
        contest = next(
            one for one in self._under_way.values() if candidate in (one.elite.candidate, one.challenger.candidate)
        )
        contest.again[candidate] = verdict
        if len(contest.again) == PAIR:
            self._settle(contest)

    def _settle(self, contest: Contest) -> None:
        name = contest.challenger.candidate
        del self._under_way[name]
        elite, challenger = (
            entry_of(entry.candidate, entry.cell, contest.again[entry.candidate])
            for entry in (contest.elite, contest.challenger)
        )
        if elite is None or challenger is None:  # whoever fails when measured again, the challenger has not won
            self._learning.move("failed", name, candidate=name, promise=None, came_of=None)
            return
        told = {"elite_again": elite.to_json(), "challenger_again": challenger.to_json()}
        self._learning.move("confirmed", name, cell=list(elite.cell), challenger=name, **told)
