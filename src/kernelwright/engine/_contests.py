"""Contests: a challenger and the elite of its cell are measured again before one of them has the cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernelwright.archive import Entry
from kernelwright.engine._docket import Docket
from kernelwright.engine._learning import Learning
from kernelwright.engine._past import Past
from kernelwright.engine._teller import Teller
from kernelwright.engine._verdicts import entry_of
from kernelwright.fleet import Job

PAIR = 2
CALLED = "contest"


@dataclass
class Contest:
    """A challenger and the elite it is measured again with; what has come back of the two."""

    elite: Entry
    challenger: Entry
    again: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str]:
        return self.elite.candidate, self.challenger.candidate


class Contests:
    """Those under way, by challenger; one cell's pair at a time."""

    def __init__(self, learning: Learning, docket: Docket, past: Past, teller: Teller) -> None:
        self._learning, self._docket, self._past, self._teller = learning, docket, past, teller
        self._under_way: dict[str, Contest] = {}

    def call(self) -> None:
        """Begins whatever the archive waits for. Noted first, so that nobody is measured twice for one contest."""
        archive = self._learning.archive
        cells = {contest.elite.cell for contest in self._under_way.values()}
        for challenger in archive.contests:
            if challenger.candidate not in self._under_way and challenger.cell not in cells:
                cells.add(challenger.cell)
                contest = Contest(archive.elites[challenger.cell], challenger)
                numbers = {name: self._past.next_measurement(name) for name in contest.names}
                self._past.note(CALLED, {"names": list(contest.names), "measurements": numbers})
                self._begin(contest, [self._job(name, number) for name, number in numbers.items()])

    def recover(self) -> None:
        """Those that were called before the run was left; who was measured by then is not measured again."""
        called = {tuple(told["names"]): told["measurements"] for told in self._past.events(CALLED)}
        for challenger in self._learning.archive.contests:
            contest = Contest(self._learning.archive.elites[challenger.cell], challenger)
            numbers = called.get(contest.names, {})
            jobs = [self._job(name, number) for name, number in numbers.items()]
            kept = {job.candidate: verdict for job in jobs if (verdict := self._past.kept(job.candidate, job.name))}
            if jobs and len(kept) < PAIR:  # both: an earlier contest of the same two, which is over
                contest.again = kept
                self._begin(contest, [job for job in jobs if job.candidate not in kept])
        self.call()

    def _job(self, candidate: str, number: int) -> Job:
        return self._docket.job(candidate, self._past.source(candidate), measurement=number)

    def _begin(self, contest: Contest, jobs: list[Job]) -> None:
        self._under_way[contest.challenger.candidate] = contest
        for job in jobs:
            self._docket.submit(job)

    def measured(self, candidate: str, verdict: dict[str, Any]) -> None:
        """One of a pair was measured again; when both were, the contest is decided."""
        contest = next(one for one in self._under_way.values() if candidate in one.names)
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
        won = self._learning.archive.elites[elite.cell].candidate == name
        self._teller.settled(elite, challenger, won)
