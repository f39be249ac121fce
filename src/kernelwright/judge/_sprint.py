"""Short timings of several candidates in turns: a sieve for those worth judging, and never a verdict.

Every candidate has a process of its own in the same cage as ever. Each is right on one trial of every case before it is
timed; then all are called on the same contents, one after the other, while everyone else stands still. Whether a
candidate is honest and right on everything else is not asked here.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelwright.judge._check import Checker, Wrong
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Trial
from kernelwright.judge._memory import Packed
from kernelwright.judge._placement import Attention
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer
from kernelwright.judge._reference import REFERENCE_SECONDS, SLOTS
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge._timing import Timer
from kernelwright.judge._turns import turn
from kernelwright.tasks import Case, Task

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge


@dataclass
class Sprinter:
    """One candidate in a sprint.

    Attributes:
        times: Seconds of its calls, by case, one a round; the journey to its process and back is taken off.
        failure: Why it has none, in one sentence.
        load, run: Seconds that it took to start and check it, and to time it.
    """

    source: str
    times: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""
    load: float = 0.0
    run: float = 0.0
    contestant: Contestant | None = None

    def fail(self, error: Rejection | Wrong) -> None:
        is_wrong = isinstance(error, Wrong)
        self.failure = f"{Status.WRONG_VALUE}: on {error}" if is_wrong else f"{error.status}: {error}"  # type: ignore[union-attr]
        self.times = {}
        self.close()

    def close(self) -> None:
        if self.contestant is not None:
            self.contestant.close()
            self.contestant = None


def sprint(judge: Judge, task: Task, sources: Sequence[str], rounds: int) -> list[Sprinter]:
    """So many rounds of every case, on this machine's processor. What must be compiled should be by now."""
    with turn():
        prepared = judge.prepare(task)
        prepared.use_weights(prepared.weight_seed)
        found = _Sprint(judge, prepared, [Sprinter(source) for source in sources])
        try:
            found.begin()
            found.run(rounds)
        finally:
            found.close()
    return found.sprinters


class _Sprint:
    """Several candidates side by side on one prepared task."""

    def __init__(self, judge: Judge, prepared: Prepared, sprinters: list[Sprinter]) -> None:
        self._judge, self._prepared, self.sprinters = judge, prepared, sprinters
        self._trials = {case.name: prepared.pair(case)[0] for case in prepared.task.cases}
        self._pings: list[float] = []

    def begin(self) -> None:
        self._prepared.call(
            self._prepared.worker, next(iter(self._trials.values())).inputs
        )  # so that pings carry a result
        for sprinter in self.sprinters:
            start = time.perf_counter()
            try:
                self._make_ready(sprinter)
            except (Rejection, Wrong) as error:
                sprinter.fail(error)
            sprinter.load = time.perf_counter() - start

    def _make_ready(self, sprinter: Sprinter) -> None:
        """Loaded, right on a trial of every case, warm, and standing still."""
        start = functools.partial(self._judge.start, self._prepared, sprinter.source)
        checker = Checker(self._prepared, start)
        sprinter.contestant = contestant = start()
        contestant.stage_name = "check"
        for trial in self._trials.values():
            checker.one(contestant, trial)
        contestant.stage_name = "time"
        with Attention():
            for trial in self._trials.values():
                Timer(self._prepared, checker, start, {}).warm(contestant, trial)
        self._stop(contestant)

    def run(self, rounds: int) -> None:
        with Attention():
            for number in range(rounds):
                for case in self._prepared.task.cases:
                    self._round(case, number)
        journey = statistics.median(self._pings) if self._pings else 0.0
        for sprinter in self.sprinters:
            net = {case: [max(wall - journey, wall / 10) for wall in walls] for case, walls in sprinter.times.items()}
            sprinter.times = net

    def _round(self, case: Case, number: int) -> None:
        """Each is called once; those who began the last round end this one."""
        pool = self._prepared.pool(case, number + 1)
        inputs = pool[number] if number < len(pool) else self._prepared.refresh(case, number % len(pool))
        self._ping()
        for sprinter in self.sprinters if number % 2 else self.sprinters[::-1]:
            if sprinter.contestant is not None:
                self._turn(sprinter, sprinter.contestant, self._trials[case.name], inputs, number)

    def _turn(self, sprinter: Sprinter, contestant: Contestant, trial: Trial, inputs: Packed, number: int) -> None:
        start = time.perf_counter()
        try:
            _, answer = contestant.call(inputs, slot=number % SLOTS)
            contestant.check_structure(answer, trial.expected)
            self._stop(contestant)
        except Rejection as rejection:
            sprinter.fail(rejection)
        else:
            sprinter.times.setdefault(trial.case.name, []).append(answer.seconds)
        sprinter.run += time.perf_counter() - start

    def _stop(self, contestant: Contestant) -> None:
        with contestant.judged():
            contestant.worker.freeze()

    def _ping(self) -> None:
        """The journey to a process and back with nothing done there."""
        worker = self._prepared.worker
        worker.freeze()
        answer = worker.go(timeout=REFERENCE_SECONDS, op="ping")
        if isinstance(answer, Answer):
            self._pings.append(answer.seconds)
        worker.freeze()

    def close(self) -> None:
        for sprinter in self.sprinters:
            sprinter.close()
        self._prepared.worker.thaw()
