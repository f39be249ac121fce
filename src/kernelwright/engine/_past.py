"""What a run has written and heard so far, read from its store when somebody asks for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from kernelwright.archive import Cell, Choice, choice_from_json
from kernelwright.engine._author import Known
from kernelwright.engine._candidates import cell_of
from kernelwright.fleet import Result
from kernelwright.store import Asked, Birth, Event, Judged, Store
from kernelwright.tasks import Task

# All elites, and the lines of a few more; what is older is read again from the store.
MOST_KNOWN = 256


class Past:
    """Candidates, verdicts and origins of one run. `device`: the one that counts, where the run names any."""

    def __init__(self, store: Store, run: str, task: Task, device: str | None = None) -> None:
        self._store, self._run, self._task, self._device = store, run, task, device
        self._known: OrderedDict[str, Known] = OrderedDict()

    def source(self, candidate: str) -> str:
        found = self._store.candidate(candidate)
        assert found is not None
        return found.source

    # Verdicts

    def keep(self, result: Result, *, used: bool = True, device: str | None = None) -> Judged:
        """Into the store, before anything is made of it. `device`: another than the one that counts."""
        assert result.verdict is not None
        judged = Judged(
            run=self._run,
            job=result.job,
            candidate=result.candidate,
            task=self._task.hash,
            device=device or self._device or result.where,
            judge=result.judge,
            verdict=result.verdict,
            used=used,
        )
        self._store.keep_verdict(judged)
        return judged

    def verdict(self, candidate: str) -> dict[str, Any] | None:
        """What is known of this text, whoever wrote it first and whichever run paid for it."""
        for judged in self._judged(candidate):
            return judged.verdict
        return None

    def _judged(self, candidate: str) -> Iterator[Judged]:
        return self._store.judged(candidate, self._task.hash, device=self._device)

    def next_measurement(self, candidate: str) -> int:
        return 1 + sum(1 for _ in self._judged(candidate))

    def is_judged(self, candidate: str) -> bool:
        """Whether this run has measured it."""
        return any(judged.run == self._run for judged in self._judged(candidate))

    def kept(self, candidate: str, job: str) -> dict[str, Any] | None:
        """What came of one of this run's jobs."""
        found = self._store.judged(candidate, self._task.hash)
        return next((judged.verdict for judged in found if (judged.run, judged.job) == (self._run, job)), None)

    # Origins

    def births(self, candidate: str) -> list[Birth]:
        return list(self._store.births(self._run, candidate))

    def unjudged(self) -> Iterator[Birth]:
        return self._store.unjudged(self._run, device=self._device)

    def verdicts(self) -> Iterator[Judged]:
        """All that this run has heard, on all devices."""
        return self._store.verdicts(self._run)

    def parent_of(self, asked: Asked) -> str | None:
        """The text that edits in the answer to this request refer to."""
        return self.source(asked.parent) if asked.parent else None

    def parents(self) -> Iterator[str]:
        """Every elite that was chosen to be improved, in order."""
        for asked in self._store.requests(self._run):
            if isinstance(choice := choice_from_json(asked.direction), Choice):
                yield choice.parent

    def recall(self, candidate: str) -> Known:
        """A judged candidate of this run."""
        if candidate not in self._known:
            source, verdict = self.source(candidate), self.verdict(candidate)
            assert verdict is not None
            cell = cell_of(self._task, source, verdict)
            self._known[candidate] = _known(source, verdict, cell, self.births(candidate)[0])
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(candidate)
        return self._known[candidate]

    # Events

    def note(self, kind: str, data: dict[str, Any]) -> None:
        self._store.note_event(Event(run=self._run, kind=kind, data=data))

    def events(self, kind: str) -> Iterator[dict[str, Any]]:
        return (event.data for event in self._store.events(self._run) if event.kind == kind)


def _known(source: str, verdict: dict[str, Any], cell: Cell, birth: Birth) -> Known:
    return Known(source, verdict, cell, birth.parent, _why(birth))


def _why(birth: Birth) -> str:
    came_of = choice_from_json(birth.direction)
    if came_of is not None:
        return came_of.why
    return "a seed, written by a program" if birth.is_seed else "a first draft"
