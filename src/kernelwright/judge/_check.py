"""Is the candidate right? Trials in random order, then questions about memory and state; on failure, which kind.

All of it in the guarding allocator: every tensor the candidate allocates is poisoned and fenced.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.judge._compare import HOPELESS, describe_bad
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Output, Trial
from kernelwright.judge._memory import FLOATS, Array, Leaf, Packed, count, same_bytes
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer
from kernelwright.judge._reference import SLOTS
from kernelwright.judge._status import Rejection, Status

LATE_SECONDS, LATE_LOOKS = 0.05, 4
FRESH_PROCESSES = 3

Start = Callable[[], Contestant]


Describe = Callable[[Array], dict[str, Any]]


class Wrong(Exception):
    """A result is not right: what and where. Which status it earns is found out afterwards."""

    def __init__(self, trial: Trial, output: int, describe: Describe, answer: Answer, found: Array) -> None:
        """`describe`: makes the evidence out of what was found; only where somebody asks for it."""
        super().__init__(trial.label)
        self.trial, self.output, self._describe, self.answer = trial, output, describe, answer
        self.found = found.copy()
        self.same_objects = False

    @functools.cached_property
    def evidence(self) -> dict[str, Any]:
        return self._describe(self.found)


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

    def __init__(self, prepared: Prepared, start: Start, passed: Callable[[], None] = lambda: None) -> None:
        """`passed`: what to do after every trial that it was right on."""
        self._prepared, self._start, self._passed = prepared, start, passed
        self.record = Record()
        self._random = random.Random(prepared.seeds.next())

    def check(self, contestant: Contestant, fresh: Callable[[], list[Trial]]) -> None:
        """Raises the Rejection that the candidate has earned, if any."""
        contestant.stage_name = "check"
        try:
            self._all_trials(contestant, fresh)
            for case in self._prepared.task.cases:
                self._state(contestant, *self._prepared.pair(case), self._prepared.touched[case.name])
        except Wrong as wrong:
            raise self.diagnose(contestant, wrong) from wrong

    def _all_trials(self, contestant: Contestant, fresh: Callable[[], list[Trial]]) -> None:
        pairs = [trial for case in self._prepared.task.cases for trial in self._prepared.pair(case)]
        order = [trial for trial in self._prepared.trials if trial not in pairs]
        self._random.shuffle(order)
        for trial in order:
            self.one(contestant, trial)
            self._passed()
        for trial in fresh():
            self.one(contestant, trial)
            self._passed()

    def one(
        self, contestant: Contestant, trial: Trial, *, slot: int | None = None, shifted: bool = True, guard: bool = True
    ) -> Answer:
        """One checked call."""
        slot = self._random.randrange(SLOTS) if slot is None else slot
        placed, answer = contestant.call(trial.inputs, slot=slot, shifted=shifted, guard=guard)
        self.judge_answer(contestant, trial, answer)
        contestant.check_mappings()
        contestant.check_inputs(placed)
        return answer

    def is_right(self, contestant: Contestant, trial: Trial) -> bool:
        """Whether a call gives the right values; nothing is said about the rest."""
        _, answer = contestant.call(trial.inputs, guard=True)
        contestant.check_structure(answer, trial.expected)
        pairs = zip(answer.leaves, trial.expected.outputs, strict=True)
        return all(_budget_used(contestant.values(leaf), output) <= 1.0 for leaf, output in pairs)

    def _again(self, contestant: Contestant, trial: Trial) -> None:
        """The same tensor objects once more, with other contents in their memory."""
        stage = self._prepared.room(trial.inputs)
        stage.fill(stage.place(trial.inputs, 0, shifted=False))
        try:
            self.judge_answer(contestant, trial, contestant.go())
        except Wrong as wrong:
            wrong.same_objects = True
            raise

    def judge_answer(self, contestant: Contestant, trial: Trial, answer: Answer) -> None:
        """Form, values, and what became of earlier results."""
        self.record.calls += 1
        contestant.check_structure(answer, trial.expected)
        self._check_values(contestant, trial, answer)
        contestant.check_earlier()
        contestant.quiet()

    def _check_values(self, contestant: Contestant, trial: Trial, answer: Answer) -> None:
        for index, (leaf, output) in enumerate(zip(answer.leaves, trial.expected.outputs, strict=True)):
            values = contestant.values(leaf)
            used = _budget_used(values, output)
            if used > 1.0 and self.excused(values, output, index, trial.inputs):
                used = 1.0
            self.record.saw(used)
            if not used <= 1.0:
                describe = functools.partial(_evidence, output=output, trial=trial)
                raise Wrong(trial, index, describe, answer, values)

    def excused(self, values: Array, output: Output, index: int, inputs: Packed) -> bool:
        """Whether a result over budget is right after all: equal elements chosen otherwise, or an ill condition."""
        if only_ties(values, output.oracle.values, output.shape, inputs):
            return True
        hope = output.is_float and _budget_used(values, output) < HOPELESS
        return hope and output.forgives(values, self._prepared.sway(inputs)[index])

    # State

    def _state(self, contestant: Contestant, first: Trial, second: Trial, touched: list[Trial]) -> None:
        """Other contents at the same address, in the same objects, a few elements apart; then at another address."""
        answer = self.one(contestant, first, slot=0, shifted=False)
        before = self._peaks(contestant, first, answer)
        for trial in touched:
            self._again(contestant, trial)
        self.one(contestant, second, slot=0, shifted=False)
        after = self._peaks(contestant, first, self.one(contestant, first, slot=1))
        self.record.spread = max(
            [self.record.spread, *(abs(old - new) for old, new in zip(before, after, strict=True))]
        )

    def _peaks(self, contestant: Contestant, trial: Trial, answer: Answer) -> list[float]:
        """The largest error of every float output: how much it varies on the same contents is recorded."""
        pairs = zip(answer.leaves, trial.expected.outputs, strict=True)
        return [o.oracle.measure(contestant.values(leaf)).peak for leaf, o in pairs if o.is_float and count(leaf)]

    # What kind of wrong

    def diagnose(self, contestant: Contestant, wrong: Wrong) -> Rejection:
        """Late, wrong, left to chance, or dependent on what came before?"""
        trial = wrong.trial
        if self._arrives_late(contestant, wrong):
            message = "its result was not finished when it returned; it changed afterwards"
            return Rejection(Status.TAMPER, message, **wrong.evidence)
        alone = [self._right_after([], trial) for _ in range(FRESH_PROCESSES)]
        if not any(alone):
            return Rejection(Status.WRONG_VALUE, wrong_sentence(wrong.evidence, trial), **wrong.evidence)
        if wrong.same_objects or (all(alone) and self._wrong_for_good(contestant, trial)):
            after = [False]
        else:
            after = [self._right_after(self._other_trials(trial), trial) for _ in range(FRESH_PROCESSES)]
        if all(alone) and (all(after) or not any(after)):
            message = (
                f"right in a fresh process, wrong after other calls (trial {trial.label}): it carries something over"
            )
            return Rejection(Status.STATEFUL, message, **wrong.evidence)
        outcomes = [*alone, *after]
        message = f"right {sum(outcomes)} of {len(outcomes)} times in fresh processes (trial {trial.label})"
        return Rejection(Status.NONDETERMINISTIC, message, **wrong.evidence)

    def _wrong_for_good(self, contestant: Contestant, trial: Trial) -> bool:
        """Whether the process in which it went wrong stays wrong on this trial."""
        return not any(self._right_again(contestant, trial) for _ in range(FRESH_PROCESSES))

    def _right_again(self, contestant: Contestant, trial: Trial) -> bool:
        try:
            self.one(contestant, trial, slot=0, shifted=False)
        except (Wrong, Rejection):
            return False
        return True

    def _other_trials(self, trial: Trial) -> list[Trial]:
        return [other for other in self._prepared.pair(trial.case) if other is not trial]

    def _arrives_late(self, contestant: Contestant, wrong: Wrong) -> bool:
        """Whether anything is still written to a result that was claimed to be finished; looks while it works on."""
        try:
            contestant.resume()
            for _ in range(LATE_LOOKS):
                before = contestant.cpu_seconds()
                time.sleep(LATE_SECONDS)
                if not same_bytes(wrong.found, contestant.values(wrong.answer.leaves[wrong.output])):
                    return True
                if contestant.cpu_seconds() - before < LATE_SECONDS / 10:
                    return False
        except Rejection:
            pass
        return False

    def _right_after(self, before: list[Trial], trial: Trial) -> bool:
        """Whether a new process is right on this trial, after it was called on others."""
        fresh = self._start()
        fresh.stage_name = "check"
        try:
            for other in before:
                fresh.call(other.inputs, slot=0, shifted=False, guard=True)
            self.one(fresh, trial, slot=0, shifted=False)
        except (Wrong, Rejection):
            return False
        finally:
            fresh.close()
        return True


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
