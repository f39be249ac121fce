"""What a run has written and heard so far, read from its store when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelwright import backends
from kernelwright.archive import Choice, Repair, choice_from_json
from kernelwright.engine._author import Known
from kernelwright.store import Asked, Birth, Store
from kernelwright.tasks import Task


class Past:
    """Candidates, verdicts and origins of one run."""

    def __init__(self, store: Store, run: str, task: Task) -> None:
        self._store, self._run, self._task = store, run, task
        self._known: dict[str, Known] = {}

    def source(self, candidate: str) -> str:
        found = self._store.candidate(candidate)
        assert found is not None
        return found.source

    def verdict(self, candidate: str) -> dict[str, Any] | None:
        """What is known of this text, whoever wrote it first and whichever run paid for it."""
        for judged in self._store.judged(candidate, self._task.hash):
            return judged.verdict
        return None

    def next_measurement(self, candidate: str) -> int:
        return 1 + sum(1 for _ in self._store.judged(candidate, self._task.hash))

    def births(self, candidate: str) -> list[Birth]:
        return list(self._store.births(self._run, candidate))

    def unjudged(self) -> Iterator[Birth]:
        return self._store.unjudged(self._run)

    def parent_of(self, asked: Asked) -> str | None:
        """The text that edits in the answer to this request refer to."""
        return self.source(asked.parent) if asked.parent else None

    def recall(self, candidate: str) -> Known:
        """A judged candidate of this run."""
        if candidate not in self._known:
            source, verdict = self.source(candidate), self.verdict(candidate)
            assert verdict is not None
            came_of = choice_from_json(self.births(candidate)[0].direction)
            self._known[candidate] = _known(source, verdict, came_of)
        return self._known[candidate]


def _known(source: str, verdict: dict[str, Any], came_of: Choice | Repair | None) -> Known:
    cell = backends.describe(source).cell
    return Known(
        source, verdict, cell, came_of.parent if came_of else None, came_of.why if came_of else "a first draft"
    )
