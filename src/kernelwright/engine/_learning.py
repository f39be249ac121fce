"""What a verdict teaches: the archive, and the advice that a kernel was written with. Stored by the same words."""

from __future__ import annotations

from typing import Any

from kernelwright.archive import Archive, Choice, Entry, Repair, choice_from_json
from kernelwright.engine._author import Author
from kernelwright.engine._candidates import cell_of
from kernelwright.engine._teller import Teller
from kernelwright.engine._verdicts import entry_of, promise_of
from kernelwright.store import Birth, Move, Outcome, Store
from kernelwright.tasks import Task

# What is told to an archive about a candidate that was judged for the first time.
EVALUATIONS = ("offer", "failed")


class Learning:
    """The archive of a run and whoever learns beside it.

    Attributes:
        since_best: Evaluations since the best kernel was found.
    """

    def __init__(self, store: Store, run: str, author: Author, teller: Teller, task: Task) -> None:
        self._store, self._run, self._author, self._teller, self._task = store, run, author, teller, task
        self.archive = Archive()
        self.since_best = 0

    def learn(self, candidate: str, source: str, verdict: dict[str, Any], births: list[Birth]) -> None:
        """From a verdict, once for every way in which the candidate came about."""
        cell = cell_of(self._task, source, verdict)
        entry = entry_of(candidate, cell, verdict)
        for birth in births:
            if entry is not None:
                self.move("offer", candidate, entry=entry.to_json(), came_of=birth.direction)
            else:
                # A model has better things to do than to repair what a program wrote.
                promise = None if birth.is_seed else promise_of(verdict)
                told = {"candidate": candidate, "promise": promise}
                self.move("failed", candidate, **told, came_of=birth.direction)
            self._credit(birth, candidate, entry, choice_from_json(birth.direction))
        self._teller.judged(self.archive.results, candidate, cell, verdict, entry)

    def _credit(self, birth: Birth, candidate: str, entry: Entry | None, came_of: Choice | Repair | None) -> None:
        """The advice that it was written with has gained so much; a draft has no parent to gain over."""
        asked = came_of.asked if isinstance(came_of, Repair) else came_of
        if birth.genome is None or asked is None:
            return
        gain = entry.log_speedup - asked.log_speedup if entry else None
        self._author.learn(birth.genome, candidate, gain)
        outcome = Outcome(
            run=self._run, genome=birth.genome, backend=self._author.backend, candidate=candidate, gain=gain
        )
        self._store.keep_outcome(outcome)

    def move(self, kind: str, about: str, **data: Any) -> None:
        """Into the store and then into the archive, by the same words."""
        event = {"event": kind, **data}
        self._store.note_move(Move(run=self._run, kind=kind, candidate=about, data=event))
        self._remember(event)

    def remember_all(self) -> None:
        """What was learned before the run was left, in the same order."""
        for move in self._store.moves(self._run):
            self._remember(move.data)

    def _remember(self, event: dict[str, Any]) -> None:
        """In the archive; a measurement made again is no further evaluation."""
        before = self.archive.best
        self.archive.replay(event)
        self.since_best += event["event"] in EVALUATIONS
        best = self.archive.best
        if best is not None and (before is None or best.candidate != before.candidate):
            self.since_best = 0
