"""What a task shows when there is no kernel: can it tell one from none?

Making a task ready for candidates asks the same and refuses a weak one at the first sign. Here everything that passes
is noted, and nothing is made ready that only a candidate needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kernelwright.judge import _nulls
from kernelwright.judge._judge import Judge
from kernelwright.judge._prepared import Prepared, Seeds
from kernelwright.judge._process import Worker
from kernelwright.judge._reference import REFERENCE_SECONDS
from kernelwright.judge.device._prepared import DevicePrepared
from kernelwright.tasks import Case, Task


@dataclass(frozen=True)
class Examination:
    """What was found.

    Attributes:
        flaws: Names in `FLAWS`.
        nulls: The null candidates that would be accepted.
        inputs: The dtypes of the inputs.
    """

    flaws: tuple[str, ...]
    nulls: tuple[str, ...]
    inputs: tuple[str, ...]

    @property
    def weak(self) -> bool:
        """Whether candidates cannot be judged by this task. A flaw that other inputs make up for is none of these."""
        return bool(self.nulls)


def examine(judge: Judge, task: Task, *, on_device: bool = False) -> Examination:
    """Two draws of the task's own inputs, and all families where those alone look like the answer.

    Raises TaskError where the task cannot be judged for another reason; some of those are flaws too.
    """
    found = _look(judge, _only_given(task), on_device)
    return _look(judge, task, on_device) if _nulls.UNCHANGED in found.nulls else found


def _only_given(task: Task) -> Task:
    return replace(task, cases=tuple(replace(case, families=("given",)) for case in task.cases))


def _look(judge: Judge, task: Task, on_device: bool) -> Examination:
    seeds = Seeds(judge.seed)
    looked = (
        _OnDevice(judge.template, judge.workshop, task, seeds=seeds)
        if on_device
        else _Noting(judge.template, task, seeds=seeds)
    )
    try:
        nulls = tuple(dict.fromkeys(looked.noted))
        flaws = (*(_nulls.flaws(list(nulls)) if nulls else ()), *looked.flaws)
        dtypes = (leaf["dtype"] for trial in looked.trials for leaf in trial.inputs.leaves)
        return Examination(tuple(dict.fromkeys(flaws)), nulls, tuple(dict.fromkeys(dtypes)))
    finally:
        looked.close()


class _Noting(Prepared):
    """Notes the null candidates that pass."""

    noted: tuple[str, ...] = ()

    def refuse_weak(self, case: Case, passed: list[str]) -> None:
        self.noted = (*self.noted, *passed)

    def _touched(self, case: Case) -> Iterator[Any]:
        """No candidate will be here to remember anything."""
        return iter(())

    def use_weights(self, seed: int, *, touch: bool = False) -> None:
        """Nobody else needs to see them."""
        self._ask(self.worker, {"op": "redraw", "seed": seed, "touch": touch})


class _OnDevice(_Noting, DevicePrepared):
    def _open_the_rest(self) -> None:
        """No candidate will come."""

    def _start(self) -> Worker:
        """No candidate needs room beside it."""
        referee = self.workshop.referee()
        with self._blame(referee):
            referee.ask({"op": "alone"}, timeout=REFERENCE_SECONDS)
        return referee
