"""Is the candidate right? Trials in random order, then questions about memory and state; on failure, which kind.

All of it in the guarding allocator: every tensor the candidate allocates is poisoned and fenced.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.judge._compare import describe_bad
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Output, Trial
from kernelwright.judge._memory import FLOATS, Array, Leaf, Packed, Placed, same_bytes
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer
from kernelwright.judge._reference import SLOTS
from kernelwright.judge._status import Rejection, Status

LATE_SECONDS = 0.05
REPEATS = 4

Start = Callable[[], Contestant]


class Wrong(Exception):
    """A result is not right: what and where. Which status it earns is found out afterwards."""

    def __init__(self, trial: Trial, output: int, evidence: dict[str, Any], answer: Answer) -> None:
        super().__init__(trial.label)
        self.trial, self.output, self.evidence, self.answer = trial, output, evidence, answer


@dataclass
class Record:
    """What was checked, for the evidence."""

    calls: int = 0
    worst: float = 0.0
    spread: float = 0.0

    def saw(self, used: float) -> None:
        self.worst = max(self.worst, used)


class Checker:
    """Puts a contestant through the trials."""

    def __init__(self, prepared: Prepared, start: Start) -> None:
        self._prepared, self._start = prepared, start
        self.record = Record()
        self._random = random.Random(prepared.seeds.next())
        given = [[t for t in prepared.trials if t.case is case and t.family == "given"] for case in prepared.task.cases]
        self._pairs = [(draws[0], draws[1]) for draws in given]
        self._for_state = [trial for pair in self._pairs for trial in pair]

    def check(self, contestant: Contestant, extra: list[Trial]) -> None:
        """Raises the Rejection that the candidate has earned, if any."""
        contestant.stage_name = "check"
        try:
            self._all_trials(contestant, extra)
            self._state(contestant)
        except Wrong as wrong:
            raise self._diagnosed(contestant, wrong) from wrong

    def _all_trials(self, contestant: Contestant, extra: list[Trial]) -> None:
        order = [*self._prepared.trials, *extra]
        self._random.shuffle(order)
        for trial in order:
            if trial not in self._for_state:
                self.one(contestant, trial)

    def one(
        self,
        contestant: Contestant,
        trial: Trial,
        *,
        slot: int | None = None,
        shifted: bool = True,
        previous: str = "poison",
    ) -> Answer:
        """One checked call."""
        slot = self._random.randrange(SLOTS) if slot is None else slot
        placed, answer = contestant.call(trial.inputs, slot=slot, shifted=shifted, guard=True, previous=previous)
        self.record.calls += 1
        contestant.check_structure(answer, trial.expected)
        self._check_values(contestant, trial, answer, placed)
        contestant.check_inputs(placed)
        contestant.quiet()
        return answer

    def _check_values(self, contestant: Contestant, trial: Trial, answer: Answer, placed: Placed) -> None:
        for index, (leaf, output) in enumerate(zip(answer.leaves, trial.expected.outputs, strict=True)):
            values = contestant.values(leaf)
            used = _budget_used(values, output)
            self.record.saw(used)
            if not used <= 1.0 and not only_ties(values, output.oracle.values, output.shape, trial.inputs):
                raise Wrong(trial, index, _evidence(values, output, trial), answer)

    # State

    def _state(self, contestant: Contestant) -> None:
        for first, second in self._pairs:
            seen = self._same_address(contestant, first, second)
            self._same_content(contestant, first, seen)

    def _same_address(self, contestant: Contestant, first: Trial, second: Trial) -> list[Array]:
        """Other contents at the same address; and the first result outlives the second call."""
        answer = self.one(contestant, first, slot=0, shifted=False)
        before = [contestant.values(leaf).copy() for leaf in answer.leaves]
        self.one(contestant, second, slot=0, shifted=False, previous="keep")
        for index, (leaf, old) in enumerate(zip(answer.leaves, before, strict=True)):
            if not same_bytes(contestant.values(leaf), old):
                raise Rejection(
                    Status.STATEFUL,
                    f"a later call overwrites the result of an earlier one (output {index}): "
                    "return newly allocated memory",
                )
        return before

    def _same_content(self, contestant: Contestant, trial: Trial, before: list[Array]) -> None:
        """The same contents at another address: how much the answer varies from run to run is recorded."""
        answer = self.one(contestant, trial, slot=1)
        for output, leaf, old in zip(trial.expected.outputs, answer.leaves, before, strict=True):
            if output.is_float and len(old):
                gap = output.oracle.measure(old).peak - output.oracle.measure(contestant.values(leaf)).peak
                self.record.spread = max(self.record.spread, abs(gap))

    # What kind of wrong

    def _diagnosed(self, contestant: Contestant, wrong: Wrong) -> Rejection:
        trial, output = wrong.trial, wrong.trial.expected.outputs[wrong.output]
        if self._arrives_late(contestant, wrong, output):
            return Rejection(
                Status.TAMPER,
                "its result was not finished when it returned; it appeared afterwards",
                **wrong.evidence,
            )
        outcomes = self._in_fresh_process(trial)
        if all(outcomes):
            return Rejection(
                Status.STATEFUL,
                f"right in a fresh process, wrong after other calls (trial {trial.label}): "
                "something is carried from call to call",
                **wrong.evidence,
            )
        if any(outcomes):
            return Rejection(
                Status.NONDETERMINISTIC,
                f"right {sum(outcomes)} of {len(outcomes)} times on the same inputs (trial {trial.label})",
                **wrong.evidence,
            )
        return Rejection(Status.WRONG_VALUE, wrong_sentence(wrong.evidence, trial), **wrong.evidence)

    def _arrives_late(self, contestant: Contestant, wrong: Wrong, output: Output) -> bool:
        time.sleep(LATE_SECONDS)
        try:
            values = contestant.values(wrong.answer.leaves[wrong.output])
        except Rejection:
            return False
        return _budget_used(values, output) <= 1.0

    def _in_fresh_process(self, trial: Trial) -> list[bool]:
        fresh = self._start()
        fresh.stage_name = "check"
        try:
            return [self._is_right(fresh, trial) for _ in range(REPEATS)]
        except Rejection:
            return [False]
        finally:
            fresh.close()

    def _is_right(self, contestant: Contestant, trial: Trial) -> bool:
        try:
            self.one(contestant, trial)
        except Wrong:
            return False
        return True

    def diagnose(self, contestant: Contestant, wrong: Wrong) -> Rejection:
        return self._diagnosed(contestant, wrong)


def _budget_used(values: Array, output: Output) -> float:
    """1 is the whole budget; NaN counts as infinitely over."""
    if len(values) == 0:
        return 0.0
    deviation = output.oracle.measure(values)
    if output.oracle.exact:
        return 0.0 if deviation.within(output.budget) else np.inf
    parts = [deviation.rms / output.budget.rms, deviation.peak / output.budget.peak]
    return float(max(parts)) if all(part == part for part in parts) else np.inf


def _evidence(values: Array, output: Output, trial: Trial) -> dict[str, Any]:
    bad = output.oracle.bad(values, output.budget)
    return {
        "trial": trial.label,
        "shape": output.shape,
        **describe_bad(bad, values, output.oracle, output.shape),
    }


def wrong_sentence(evidence: dict[str, Any], trial: Trial) -> str:
    first = evidence["first"]
    return (
        f"{evidence['bad_elements']} of {evidence['elements']} elements wrong on {trial.label}: "
        f"first at {evidence['first']['index']}, {_short(first['got'])} instead of {_short(first['expected'])}"
    )


def _short(value: object) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def only_ties(values: Array, right: Array, shape: list[int], inputs: Packed) -> bool:
    """Integer outputs may be indices: where several elements are equal, any of them is right."""
    if values.dtype != np.int64:
        return False
    mine, theirs = values.reshape(shape), right.reshape(shape)
    for index, leaf in enumerate(inputs.leaves):
        if leaf["dtype"] in FLOATS and any(
            _same_choice(inputs.values(index), leaf, axis, mine, theirs) for axis in range(len(leaf["shape"]))
        ):
            return True
    return False


def _same_choice(flat: Array, leaf: Leaf, axis: int, mine: Array, theirs: Array) -> bool:
    """Whether both choices, taken as indices along `axis`, pick equal values everywhere."""
    shape = leaf["shape"]
    if len(flat) != int(np.prod(shape)):
        return False
    rest = [size for index, size in enumerate(shape) if index != axis]
    if list(mine.shape) == rest:
        mine, theirs = np.expand_dims(mine, axis), np.expand_dims(theirs, axis)
    expected = [size for index, size in enumerate(mine.shape) if index != axis]
    if mine.ndim != len(shape) or expected != rest:
        return False
    if not all(((choice >= 0) & (choice < shape[axis])).all() for choice in (mine, theirs)):
        return False
    if any(np.diff(np.sort(choice, axis=axis), axis=axis).min(initial=1) == 0 for choice in (mine, theirs)):
        return False  # the same element chosen twice is not a tie
    data = flat.reshape(shape)
    return np.array_equal(np.take_along_axis(data, mine, axis), np.take_along_axis(data, theirs, axis))
