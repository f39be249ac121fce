"""Is a candidate right, on a device? The order of questions is the host's; the answers come from the referee."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kernelwright.judge._channel import Message
from kernelwright.judge._check import LATE_LOOKS, LATE_SECONDS, Checker, Wrong
from kernelwright.judge._process import Answer
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge.device._contestant import DeviceContestant, outputs_over
from kernelwright.judge.device._prepared import DevicePrepared, DeviceTrial

SLOTS, MOST_EDGES = 2, 3
NOTHING = np.empty(0)


class DeviceChecker(Checker):
    """Puts a contestant on a device through the trials."""

    _prepared: DevicePrepared

    @property
    def prepared(self) -> DevicePrepared:
        return self._prepared

    def one(  # type: ignore[override]
        self,
        contestant: DeviceContestant,
        trial: DeviceTrial,
        *,
        slot: int | None = None,
        shifted: bool = True,
        guard: bool = True,
    ) -> Answer:
        slot = self._random.randrange(SLOTS) if slot is None else slot
        _, answer = contestant.call(trial.inputs, slot=slot, shifted=shifted, guard=guard)
        self.judge_answer(contestant, trial, answer)
        contestant.let_go()
        return answer

    def judge_answer(self, contestant: Any, trial: Any, answer: Answer) -> None:
        self._judge_results(contestant, [trial], answer)

    def _judge_results(self, contestant: DeviceContestant, trials: list[DeviceTrial], answer: Answer) -> None:
        """Form and values of the results of one go, one call a trial."""
        self.record.calls += len(trials)
        results = contestant.results(answer, len(trials), trials[0].expected)
        for index, (trial, result) in enumerate(zip(trials, results, strict=True)):
            self.judge_result(contestant, trial, result, index=index)
        contestant.quiet()

    def judge_result(
        self,
        contestant: DeviceContestant,
        trial: DeviceTrial,
        result: Answer,
        *,
        index: int = 0,
        like: Message | None = None,
    ) -> None:
        """The result of one call. `like`: a key whose budget holds for it too."""
        reduction = self._prepared.probes[trial.case.name].reduction
        found, strayed = contestant.measure(trial, result, reduction, index=index, like=like)
        for said in found:
            self.record.saw(float("inf") if said["used"] == "infinite" else said["used"])
        over = outputs_over(found)
        if over is not None:
            output, evidence = over
            shape = trial.expected.outputs[output].shape
            told = {"trial": trial.label, "shape": shape, **evidence}
            raise Wrong(trial, output, lambda _: told, result, NOTHING)  # type: ignore[arg-type]
        if strayed:
            raise Rejection(Status.CRASH, "wrote outside its tensors, behind its result", stage=contestant.stage_name)

    def is_right(self, contestant: Any, trial: Any) -> bool:
        _, answer = contestant.call(trial.inputs, guard=True)
        contestant.check_structure(answer, trial.expected)
        reduction = self._prepared.probes[trial.case.name].reduction
        found, _ = contestant.measure(trial, answer, reduction, brief=True)
        return outputs_over(found) is None

    # State

    def _state(self, contestant: Any, first: Any, second: Any, touched: list[Any]) -> None:
        """Other contents at the same address, in the same objects, a few elements apart; then two calls in one go."""
        self.one(contestant, first, slot=0, shifted=False)
        for trial in touched:
            self._again(contestant, trial)
        self.one(contestant, second, slot=0, shifted=False)
        for operand in range(min(len(first.inputs.leaves), MOST_EDGES)):
            self._at_edge(contestant, first, operand)
        calls = self._prepared.lay([first.inputs, second.inputs])
        self._prepared.fill(calls)
        contestant.stage_calls(calls, guard=True)
        try:
            self._judge_results(contestant, [first, second], contestant.go())
        except Wrong as wrong:
            if wrong.trial is second:
                raise
            message = "a later call overwrites the result of an earlier one: return newly allocated memory"
            raise Rejection(Status.STATEFUL, message, **wrong.evidence) from wrong
        contestant.let_go()

    def _at_edge(self, contestant: DeviceContestant, trial: DeviceTrial, operand: int) -> None:
        """An input that ends where mapped memory does."""
        call = self._prepared.lay_at_edge(trial.inputs, operand)
        self._prepared.fill([call])
        contestant.stage_calls([call], guard=True)
        self.judge_answer(contestant, trial, contestant.go())
        contestant.let_go()

    def _again(self, contestant: Any, trial: Any) -> None:
        """The same tensor objects once more, with other contents in their memory."""
        self._prepared.fill(self._prepared.lay([trial.inputs], shifted=False))
        contestant.drop_results()
        try:
            self.judge_answer(contestant, trial, contestant.go())
        except Wrong as wrong:
            wrong.same_objects = True
            raise
        contestant.let_go()

    def _arrives_late(self, contestant: Any, wrong: Wrong) -> bool:
        """Whether a result that was claimed to be finished becomes right by waiting."""
        try:
            contestant.resume()
            for _ in range(LATE_LOOKS):
                time.sleep(LATE_SECONDS)
                trial: Any = wrong.trial
                reduction = self._prepared.probes[trial.case.name].reduction
                found, _ = contestant.measure(trial, wrong.answer, reduction, brief=True)
                if outputs_over(found) is None:
                    return True
        except Rejection:
            pass
        return False
