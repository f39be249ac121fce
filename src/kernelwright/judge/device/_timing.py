"""How fast is it, on a device? As on the host, candidate and baselines take turns on the same new contents.

A call is over when the referee, another process, has read elements of the result in places chosen then. The device
runs one process's work at a time: what a candidate leaves running when it claims to be done delays that reading, and so
counts, or is not there yet, and so shows. Short calls are made several to a go, each on contents of its own; the
caches are flushed before every turn.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelwright.judge._channel import Message
from kernelwright.judge._check import Wrong
from kernelwright.judge._placement import Attention
from kernelwright.judge._process import Answer
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge._timing import CANDIDATE, CaseTiming
from kernelwright.judge._turns import alone_on_device
from kernelwright.judge.device import _health
from kernelwright.judge.device._check import DeviceChecker
from kernelwright.judge.device._contestant import DeviceContestant
from kernelwright.judge.device._prepared import DevicePrepared, DeviceTrial, Runner
from kernelwright.tasks import Case

BLOCKS = 3
WARM_CALLS = 3
# The journey there and back takes about 1 ms, give or take a tenth: the quickest works for several times as long.
GO_SECONDS, LONGEST_GO_SECONDS, MOST_CALLS = 4e-3, 0.1, 32
# Calls that are long by themselves are measured well in fewer rounds; none is shorter than a launch.
LONG_SECONDS, LEAST_SECONDS = 1e-3, 2e-6
FEW_ROUNDS, MANY_ROUNDS = 6, 10
FULLY_VERIFIED = 1 / 4
# Between the rounds a block makes its share of the trials: all of them if they are short, else one go of them.
TRIAL_SECONDS = 0.05
# How much less than recorded a timed call may take: clocks differ from moment to moment.
SAME_SHARE, SAME_SECONDS = 0.6, 2e-5
EAGER = "eager"

Start = Callable[[], DeviceContestant]


class DeviceTimer:
    """Times one candidate against baselines on one prepared task."""

    def __init__(
        self, prepared: DevicePrepared, checker: DeviceChecker, start: Start, baselines: dict[str, Runner]
    ) -> None:
        self.prepared, self.checker, self._start, self.baselines = prepared, checker, start, baselines
        self.health: list[dict[str, Any]] = []

    def time(self, case: Case, busy: float) -> CaseTiming:
        """`busy`: for how long its kernels ran in a call when they were recorded."""
        timing = CaseTiming(case.name, case.weight)
        trial: Any = next(t for t in self.prepared.trials if t.case is case and t.family == "given")
        others: list[Any] = [t for t in self.prepared.trials if t.case is case and t.family != "given"]
        random.SystemRandom().shuffle(others)
        pings: list[float] = []
        calls = rounds = 0
        for number in range(BLOCKS):
            contestant = self._start()
            contestant.stage_name = "time"
            try:
                with alone_on_device(), Attention():
                    self.health.append(_health.look())
                    mine, theirs = self._warm(contestant, trial)
                    if not calls:
                        calls, rounds = _plan(busy, [busy + t - mine for t in theirs], self._slots(trial))
                    contestant.seal()
                    block = _Block(self, contestant, trial, calls, pings, timing)
                    timing.blocks.append(block.run(rounds, others[number::BLOCKS]))
            finally:
                contestant.close()
        self.health.append(_health.look())
        timing.overhead = float(np.median(pings)) / calls
        timing.calls = calls
        return timing

    def _warm(self, contestant: DeviceContestant, trial: DeviceTrial) -> tuple[float, list[float]]:
        """Calls on contents that will not be timed: compilers, caches and clocks settle."""
        calls = self.prepared.lay([trial.inputs])
        self.prepared.fill(calls)
        contestant.stage_calls(calls)
        mine = []
        for _ in range(WARM_CALLS):
            answer = contestant.go()
            contestant.show_blocks(contestant.results(answer, 1, trial.expected))
            mine.append(answer.seconds)
        theirs = []
        for runner in self.baselines.values():
            runner.stage(calls)
            theirs.append(min(self._warm_runner(runner) for _ in range(WARM_CALLS)))
        return min(mine), theirs

    def _warm_runner(self, runner: Runner) -> float:
        answer = runner.go()
        runner.results(answer)
        return answer.seconds

    def _slots(self, trial: DeviceTrial) -> int:
        return self.prepared.room(trial.inputs).number


def look_at_kernels(
    contestant: DeviceContestant, checker: DeviceChecker, trial: DeviceTrial
) -> tuple[dict[str, float], float]:
    """Which kernels run in a call, for how long, and for how long any does; its result must be right too."""
    prepared = checker.prepared
    calls = prepared.lay([trial.inputs])
    prepared.fill(calls)
    contestant.stage_calls(calls)
    said = contestant.ask({"op": "kernels"}, timeout=contestant.call_limit)
    with contestant.judged():
        answer = Answer(said["tree"], said["leaves"], 0.0, [], said["more"])
        found = {str(name)[:300]: float(seconds) for name, seconds in said["seconds"].items()}
        busy = float(said["busy"])
    checker.judge_answer(contestant, trial, answer)
    return found, busy


def same_work(timing: CaseTiming, busy: float) -> None:
    """Raises if it was timed at less than its kernels took when they were recorded: it does something else then."""
    mine = timing.median(CANDIDATE)
    if mine < SAME_SHARE * busy - SAME_SECONDS:
        message = f"takes {mine * 1e3:.4g} ms when it is timed, {busy * 1e3:.4g} ms when its kernels are recorded"
        raise Rejection(Status.TAMPER, f"{message}: it does other work then", recorded_ms=busy * 1e3)


def _plan(mine: float, theirs: list[float], slots: int) -> tuple[int, int]:
    """How many calls a go, how many rounds a block: fixed before the first is timed."""
    shortest, longest = (max(LEAST_SECONDS, pick(mine, *theirs)) for pick in (min, max))
    calls = min(int(GO_SECONDS / shortest), int(LONGEST_GO_SECONDS / longest), MOST_CALLS, slots)
    return max(1, calls), FEW_ROUNDS if shortest >= LONG_SECONDS else MANY_ROUNDS


class _Block:
    """Rounds in one process of the candidate."""

    def __init__(
        self,
        timer: DeviceTimer,
        contestant: DeviceContestant,
        trial: DeviceTrial,
        calls: int,
        pings: list[float],
        timing: CaseTiming,
    ) -> None:
        self._timer, self._contestant, self._trial, self._calls = timer, contestant, trial, calls
        self._prepared, self._pings, self._timing = timer.prepared, pings, timing
        self._random = random.SystemRandom()
        self._budgets = self._prepared.loosened(trial)

    def run(self, rounds: int, trials: list[DeviceTrial]) -> dict[str, list[float]]:
        """The first round is not counted: in it, results lie in memory that has yet to be handed over."""
        samples: dict[str, list[float]] = {name: [] for name in (*self._timer.baselines, CANDIDATE)}
        self._round(list(samples), {name: [] for name in samples}, fully=False)
        fully = set(self._random.sample(range(rounds), max(1, round(rounds * FULLY_VERIFIED))))
        trials_before = self._random.randrange(rounds)
        for index in range(rounds):
            if index == trials_before:
                self._make(trials)
            order = list(samples)
            self._round(order if index % 2 else order[::-1], samples, index in fully)
        return samples

    def _make(self, trials: list[DeviceTrial]) -> None:
        """Calls that are not timed but checked: as many a go as in a timed one, so that they look the same."""
        start = time.monotonic()
        for first in range(0, len(trials), self._calls):
            if first and time.monotonic() - start > TRIAL_SECONDS:
                return
            self._go_on(trials[first : first + self._calls])

    def _go_on(self, trials: list[DeviceTrial]) -> None:
        drawn = [trials[index % len(trials)].inputs for index in range(self._calls)]
        calls = self._prepared.lay(drawn, first=self._random.randrange(1 << 16))
        self._stage(calls)
        self._prepared.fill(calls)
        self._prepared.flush()
        results = self._contestant.results(self._contestant.go(), self._calls, self._trial.expected)
        self._contestant.show_blocks(results)
        self._freeze()
        self._contestant.check_alone()
        try:
            for index, trial in enumerate(trials):
                self._timer.checker.judge_result(self._contestant, trial, results[index], index=index)
        except Wrong as wrong:
            raise self._timer.checker.diagnose(self._contestant, wrong) from wrong

    def _stage(self, calls: list[Message]) -> None:
        """Tells the candidate where inputs will lie, and stops it."""
        self._contestant.stage_calls(calls)
        self._freeze()

    def _freeze(self) -> None:
        with self._contestant.judged():
            self._contestant.worker.freeze()

    def _round(self, order: list[str], samples: dict[str, list[float]], fully: bool) -> None:
        """Everyone is told where inputs will lie and is stopped; inputs are drawn; then all take turns."""
        drawn = [self._trial.inputs.anew(self._prepared.seeds.next()) for _ in range(self._calls)]
        calls = self._prepared.lay(drawn, first=self._random.randrange(1 << 16))
        for runner in self._timer.baselines.values():
            runner.stage(calls)
            runner.worker.freeze()
        self._stage(calls)
        self._prepared.fill(calls)
        look = {"op": "glance", "at": self._random.randrange(self._calls), "seed": self._random.getrandbits(60)}
        results: list[Answer] = []
        for name in order:
            self._prepared.flush()
            if name == CANDIDATE:
                results = self._candidate_turn(samples, look)
            else:
                self._baseline_turn(self._timer.baselines[name], samples, look)
        self._ping(look)
        self._verify(results, calls, look, fully)

    def _candidate_turn(self, samples: dict[str, list[float]], look: Message) -> list[Answer]:
        start = time.perf_counter()
        answer = self._contestant.go()
        said = [{"leaves": answer.leaves}, *answer.more][look["at"] if len(answer.more) == self._calls - 1 else 0]
        early = self._contestant.knows(said)
        if early:
            self._glance(look, self._contestant.name, said["leaves"])
            samples[CANDIDATE].append((time.perf_counter() - start) / self._calls)
        results = self._contestant.results(answer, self._calls, self._trial.expected)
        self._contestant.show_blocks(results)
        if not early:  # memory it has not returned before; handing it over is no part of the call
            begun = time.perf_counter()
            self._glance(look, self._contestant.name, results[look["at"]].leaves)
            samples[CANDIDATE].append((answer.seconds + time.perf_counter() - begun) / self._calls)
        self._freeze()
        return results

    def _glance(self, look: Message, whose: str, leaves: list[Any]) -> None:
        self._prepared.ask({**look, "whose": whose, "leaves": leaves})

    def _baseline_turn(self, runner: Runner, samples: dict[str, list[float]], look: Message) -> None:
        start = time.perf_counter()
        answer = runner.go()
        went = time.perf_counter()
        leaves = runner.results(answer)[look["at"]]
        begun = time.perf_counter()
        self._glance(look, runner.name, leaves)
        samples[runner.name].append((went - start + time.perf_counter() - begun) / self._calls)
        runner.worker.freeze()

    def _ping(self, look: Message) -> None:
        """The journey without a call: to a process and back, and the referee's look at a result."""
        runner = self._timer.baselines[EAGER]
        start = time.perf_counter()
        answer = runner.go("ping")
        went = time.perf_counter()
        leaves = runner.results(answer)[look["at"]]
        begun = time.perf_counter()
        self._glance(look, runner.name, leaves)
        self._pings.append(went - start + time.perf_counter() - begun)

    def _verify(self, results: list[Answer], calls: list[Message], look: Message, fully: bool) -> None:
        """What was seen of the candidate's result is what was seen of the reference's; of some, all is looked at."""
        order = {"op": "agree", "whose": self._contestant.name, "other": EAGER, "budgets": self._budgets}
        agrees = self._prepared.ask(order)["right"]
        self._contestant.check_alone()
        if agrees and not fully:
            return
        doubted = look["at"] if not agrees else self._random.randrange(self._calls)
        key = calls[doubted]["key"]
        drawn = type(self._trial.inputs)(key, self._trial.inputs.tree, self._trial.inputs.leaves)
        trial = DeviceTrial(self._trial.case, "timed", key["seed"], drawn, self._trial.expected)
        try:
            like = self._trial.inputs.key
            self._timer.checker.judge_result(self._contestant, trial, results[doubted], index=doubted, like=like)
        except Wrong as wrong:
            raise self._timer.checker.diagnose(self._contestant, wrong) from wrong
        if not agrees and not self._excusable():
            message = "its result was not finished when a timed call returned; it changed afterwards"
            raise Rejection(Status.TAMPER, message, trial="a timed call")
        self._timing.verified_fully += fully

    def _excusable(self) -> bool:
        """Whether elements of a right result may lie farther from the reference's than two honest results should.

        Ties and ill-conditioned elements do; a glance cannot tell them from a result that came late, another can.
        """
        return self._timer.checker.record.worst >= 1.0 or any(
            not form.dtype.startswith(("float", "bfloat")) for form in self._trial.expected.outputs
        )
