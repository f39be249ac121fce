"""What comes back to a run: as it happens, or in the order in which it once happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from kernelwright.engine._asking import Answer, Asking
from kernelwright.engine._author import Draft
from kernelwright.engine._docket import Docket
from kernelwright.engine._settings import RunError
from kernelwright.fleet import Fleet, Kind, Result

# An event in the store: who came back, and after how many requests. Nothing else of a run is left to chance.
CAME = "came"
ANSWER_SECONDS = 30.0
LETTERS = 10
FIX = "it was recorded by another version: its report and its kernels are still in the store"

Came = tuple[Draft, Answer] | Result


class Listening:
    """As it happens. Answers come first: the judge may be idle."""

    def __init__(self, asking: Asking, docket: Docket, fleet: Fleet) -> None:
        self._asking, self._docket, self._fleet = asking, docket, fleet

    def hear(self, patience: float, asked: int) -> Iterator[Came]:
        """Whatever came back meanwhile; waits so many seconds if nothing has. `asked`: how many requests there were."""
        answers_only = bool(self._asking) and not self._docket
        results = list(self._fleet.finished(0.0 if answers_only else patience))
        yield from self._asking.answers(patience if answers_only and not results else 0.0)
        yield from results


class Rehearsed(Listening):
    """As it happened: the same answers and verdicts, each in its turn and after as many requests as then."""

    def __init__(self, told: Sequence[dict[str, Any]], asking: Asking, docket: Docket, fleet: Fleet) -> None:
        super().__init__(asking, docket, fleet)
        self._told = deque(_each_once(told))
        self._results: dict[tuple[str, bool, str | None], Result] = {}

    def hear(self, patience: float, asked: int) -> Iterator[Came]:
        if not self._told:
            yield from super().hear(patience, asked)
            return
        if patience and self._told[0]["asked"] > asked:
            raise RunError(f"request {asked + 1} of the recorded run is not asked this time", FIX)
        while self._told and self._told[0]["asked"] <= asked:
            told = self._told.popleft()
            yield self._answer_to(told["request"]) if "request" in told else self._result_of(told)

    def _answer_to(self, request: str) -> tuple[Draft, Answer]:
        found = self._asking.answer_to(request, ANSWER_SECONDS)
        if found is None:
            raise RunError(f"request {request} of the recorded run is not asked this time", FIX)
        return found

    def _result_of(self, told: dict[str, Any]) -> Result:
        came = self._fleet.finished(0.0)
        self._results.update(((one.candidate, one.kind is Kind.PROFILED, one.device), one) for one in came)
        name = told["candidate"], told["profile"], told.get("device")
        if name not in self._results:
            raise RunError(f"candidate {name[0][:LETTERS]} of the recorded run is not judged this time", FIX)
        return self._results.pop(name)


def _each_once(told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """An answer that was heard again, since the run was left in that very moment, counts the second time."""
    last = {one["request"]: place for place, one in enumerate(told) if "request" in one}
    return [one for place, one in enumerate(told) if last.get(one.get("request", ""), place) == place]
