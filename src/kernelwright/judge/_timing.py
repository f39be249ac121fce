"""How fast is it? Candidate and baselines take turns on the same contents, one at a time, everyone else frozen.

Each round's contents are new to the candidate's process and are written only when it is frozen, so there is nothing
to prepare, remember or overlap. The judge's clock runs from "go" until it holds the result's addresses; at that
moment it reads pieces of the result out of the process's memory, in places chosen then: work put off until later is
work not done. Blocks of rounds run in separate processes, and the interval counts the spread between them.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelwright.judge._check import LATE_SECONDS, Checker, Start, Wrong, only_ties
from kernelwright.judge._compare import Deviation, Yardstick, describe_bad
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._coverage import Observer
from kernelwright.judge._expected import Output, Trial
from kernelwright.judge._memory import NUMPY, Array, Leaf, Packed, Placed, count, is_dense, same_bytes
from kernelwright.judge._placement import Attention
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer, Worker
from kernelwright.judge._reference import SLOTS
from kernelwright.judge._status import Rejection, Status
from kernelwright.tasks import Case, TaskError

BLOCKS = 5
SETTLED_CALLS, MOST_WARM_CALLS, WARM_SECONDS, FEW_FAULTS = 2, 16, 2.0, 64
KERNEL_SECONDS = 0.6
FEWEST_ROUNDS, MOST_ROUNDS, QUICK_ROUNDS = 10, 20, 100
QUICK_SECONDS = 3e-4
PIECES, PIECE_BYTES = 48, 1024
FULLY_VERIFIED = 1 / 6
CALL_SECONDS = 120.0
STILL_SECONDS, SLICE_SECONDS = 2e-4, 2e-5
MOST_CHARGED_LATE = 1
# In so many blocks trials are made between the rounds: all of them if they are short, else so many a block. In the
# first of them it is watched whose code runs, which makes a call several times as long.
TRIAL_BLOCKS, FEWEST_TRIALS, TRIAL_SECONDS = 3, 3, 0.05
MOST_WATCHED, WATCH_SECONDS = 3, 0.01
PATIENCE_SECONDS, NAP_SECONDS = 1.0, 2e-3
RESAMPLES = 1000
# Within so many standard deviations lie 95 % of a normal distribution.
NORMAL = 1.96
CANDIDATE = "candidate"


@dataclass
class CaseTiming:
    """Raw samples of one case: seconds by contestant, in rounds, in blocks; and what the journey costs."""

    case: str
    weight: float
    blocks: list[dict[str, list[float]]] = field(default_factory=list)
    overhead: float = 0.0
    verified_fully: int = 0
    disturbed: int = 0
    patience: float = PATIENCE_SECONDS
    calls: int = 1

    def seconds(self, name: str) -> Array:
        return self._net(np.concatenate([np.asarray(block[name]) for block in self.blocks]))

    def _net(self, wall: Array) -> Array:
        """Without the journey, but never less than a tenth of what the clock showed."""
        return np.maximum(wall - self.overhead, wall / 10)

    def median(self, name: str) -> float:
        return float(np.median(self.seconds(name)))

    def log_ratios(self, baseline: str) -> list[Array]:
        """By block: the log of baseline over candidate, each value the mean of two rounds in opposite order."""
        found = []
        for block in self.blocks:
            logs = np.log(self._net(np.asarray(block[baseline])) / self._net(np.asarray(block[CANDIDATE])))
            found.append(logs[: len(logs) // 2 * 2].reshape(-1, 2).mean(axis=1))
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "weight": self.weight,
            "overhead_ms": self.overhead * 1e3,
            "verified_fully": self.verified_fully,
            "rounds_begun_on_a_busy_machine": self.disturbed,
            "calls_a_round": self.calls,
            "samples_ms": [{name: [s * 1e3 for s in times] for name, times in b.items()} for b in self.blocks],
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> CaseTiming:
        """What `to_json` told, as far as medians and ratios need it."""
        blocks = [{name: [ms / 1e3 for ms in times] for name, times in b.items()} for b in told["samples_ms"]]
        return cls(told["case"], told["weight"], blocks, told["overhead_ms"] / 1e3)


@dataclass(frozen=True)
class Ratio:
    """A speedup with its 95 % interval."""

    ratio: float
    low: float
    high: float


def speedup(timings: list[CaseTiming], baseline: str) -> Ratio:
    """Weighted geometric mean over cases. The seed is fixed: the same samples give the same interval."""
    rng = np.random.default_rng(0)
    weights = np.array([timing.weight for timing in timings])
    weights = weights / weights.sum()
    blocks = [timing.log_ratios(baseline) for timing in timings]
    centre = sum(w * float(np.median(np.concatenate(b))) for w, b in zip(weights, blocks, strict=True))
    logs = sum(w * _resampled(b, rng) for w, b in zip(weights, blocks, strict=True))
    low, high = np.percentile(logs, [2.5, 97.5])
    return Ratio(float(np.exp(centre)), float(np.exp(min(low, centre))), float(np.exp(max(high, centre))))


def _understated(blocks: list[Array]) -> float:
    """How many times too narrow resampling is where there are so few blocks to tell their spread from.

    Blocks count and not values: those of one block share a moment, and what the machine was like in it. The second
    factor is what Student's distribution is wider than the normal one.
    """
    freedom = len(blocks) - 1
    student = NORMAL + (NORMAL**3 + NORMAL) / (4 * freedom)
    student += (5 * NORMAL**5 + 16 * NORMAL**3 + 3 * NORMAL) / (96 * freedom**2)
    return math.sqrt(len(blocks) / freedom) * student / NORMAL


def _resampled(blocks: list[Array], rng: np.random.Generator) -> Array:
    """Bootstrap of the median: blocks are drawn first, then values within each block drawn."""
    values = np.stack(blocks)
    number, length = values.shape
    picks = rng.integers(number, size=(RESAMPLES, number, 1))
    drawn = values[picks, rng.integers(length, size=(RESAMPLES, number, length))]
    centre = np.median(values)
    medians: Array = centre + (np.median(drawn.reshape(RESAMPLES, -1), axis=1) - centre) * _understated(blocks)
    return medians


def _rounds(mine: float, theirs: list[float]) -> int:
    """How many rounds a block gets: an even number, fixed before the first is timed."""
    if max(mine, *theirs) < QUICK_SECONDS:
        return QUICK_ROUNDS // BLOCKS
    wanted = round(KERNEL_SECONDS / (mine + sum(theirs)))
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, wanted)) // BLOCKS // 2 * 2


class Timer:
    """Times one candidate against baselines on one prepared task."""

    def __init__(self, prepared: Prepared, checker: Checker, start: Start, baselines: dict[str, Worker]) -> None:
        self._prepared, self._checker, self._start = prepared, checker, start
        self._baselines = baselines
        self._random = random.SystemRandom()
        self.contestants = 0

    def time(self, case: Case, observer: Observer) -> CaseTiming:
        timing = CaseTiming(case.name, case.weight)
        trial = next(t for t in self._prepared.trials if t.case is case and t.family == "given")
        rounds, used = 0, 0
        pings: list[float] = []
        looked_at = self._random.randrange(BLOCKS)
        dealt = self._dealt(case)
        for number in range(BLOCKS):
            contestant = self._start()
            self.contestants += 1
            contestant.stage_name = "time"
            try:
                with Attention() as attention:
                    mine = min(self.warm(contestant, trial))
                    rounds = rounds or _rounds(mine, [self.warm_baseline(b, trial) for b in self._baselines.values()])
                    block = _Block(self, contestant, trial, timing, pings, observer, attention)
                    timing.blocks.append(block.run(case, rounds, used, dealt.get(number, [])))
                used += rounds
                if number == looked_at:
                    contestant.worker.thaw()
                    observer.check_timed(contestant, trial)
                    contestant.check_idle()
            finally:
                self._thaw(contestant)
                contestant.close()
        timing.overhead = float(np.median(pings))
        return timing

    def _dealt(self, case: Case) -> dict[int, list[Trial]]:
        """All trials of a case, dealt out to a few of the blocks; each of these begins with one like those timed."""
        trials = self.trials(case)
        given = [trial for trial in trials if trial.family == "given"]
        others = [trial for trial in trials if trial.family != "given"]
        self._random.shuffle(others)
        dealt = {}
        for place, block in enumerate(self._random.sample(range(BLOCKS), TRIAL_BLOCKS)):
            hand = [self._random.choice(given), *others[place::TRIAL_BLOCKS]]
            dealt[block] = hand + self._random.choices(trials, k=max(0, MOST_WATCHED - len(hand)))
        return dealt

    def _thaw(self, contestant: Contestant) -> None:
        for worker in self._baselines.values():
            worker.thaw()

    def warm(self, contestant: Contestant, trial: Trial) -> list[float]:
        """Calls on contents that will not be timed, until memory and threads have settled."""
        seconds: list[float] = []
        settled = 0
        while settled < SETTLED_CALLS and len(seconds) < MOST_WARM_CALLS and sum(seconds) < WARM_SECONDS:
            before = self._faults(contestant)
            _, answer = contestant.call(trial.inputs, slot=len(seconds) % SLOTS)
            settled = settled + 1 if self._faults(contestant) - before < FEW_FAULTS else 0
            seconds.append(answer.seconds)
        return seconds

    def _faults(self, contestant: Contestant) -> int:
        with contestant.judged():
            return contestant.worker.page_faults()

    def warm_baseline(self, worker: Worker, trial: Trial) -> float:
        return min(self._prepared.call(worker, trial.inputs).seconds for _ in range(3))

    @property
    def baselines(self) -> dict[str, Worker]:
        return self._baselines

    @property
    def prepared(self) -> Prepared:
        return self._prepared

    def contents(self, case: Case, index: int) -> Packed:
        """Contents this candidate has not been timed on: from the pool, or drawn now if the pool is used up."""
        pool = self._prepared.pool(case, index + 1)
        return pool[index] if index < len(pool) else self._prepared.refresh(case, index % len(pool))

    def trials(self, case: Case) -> list[Trial]:
        return [trial for trial in self._prepared.trials if trial.case is case]

    def judge_answer(self, contestant: Contestant, trial: Trial, answer: Answer) -> None:
        try:
            self._checker.judge_answer(contestant, trial, answer)
        except Wrong as wrong:
            contestant.worker.thaw()
            raise self._checker.diagnose(contestant, wrong) from wrong

    def excused(self, values: Array, output: Output, index: int, inputs: Packed) -> bool:
        return self._checker.excused(values, output, index, inputs)

    def wrong(self, contestant: Contestant, wrong: Wrong) -> Rejection:
        return self._checker.diagnose(contestant, wrong)


class _Block:
    """Rounds in one process of the candidate."""

    def __init__(
        self,
        timer: Timer,
        contestant: Contestant,
        trial: Trial,
        timing: CaseTiming,
        pings: list[float],
        observer: Observer,
        attention: Attention,
    ) -> None:
        self._timer, self._contestant, self._trial, self._timing = timer, contestant, trial, timing
        self._pings, self._observer, self._attention = pings, observer, attention
        self._random = random.SystemRandom()
        self._stopped = Stopped(contestant.worker)
        self._workers: dict[str, Worker] = {**timer.baselines, CANDIDATE: contestant.worker}

    def run(self, case: Case, rounds: int, used: int, trials: list[Trial]) -> dict[str, list[float]]:
        samples: dict[str, list[float]] = {name: [] for name in self._workers}
        fully = set(self._random.sample(range(rounds), max(1, round(rounds * FULLY_VERIFIED))))
        trials_before = self._random.randrange(rounds)
        for index in range(rounds):
            if index == trials_before:
                self._make(trials)
            order = list(self._workers)
            self._round(
                self._contents(case, used + index),
                order if index % 2 else order[::-1],
                samples,
                index in fully,
            )
        return samples

    def _contents(self, case: Case, index: int) -> Packed:
        reference = self._timer.prepared.worker
        reference.thaw()
        return self._timer.contents(case, index)

    def _round(self, inputs: Packed, order: list[str], samples: dict[str, list[float]], fully: bool) -> None:
        """Everyone is told where inputs will lie and frozen; then they are written; then each takes its turn."""
        stage = self._timer.prepared.room(inputs)
        placed = stage.place(inputs, self._random.randrange(SLOTS))
        for name in order:
            self._seat(name, placed)
        stage.fill(placed)
        self._await_quiet()
        looks = {name: self._turn(name, samples, fully) for name in order}
        self._verify(looks, inputs, fully)

    def _make(self, trials: list[Trial]) -> None:
        """Calls between the rounds, not timed but checked, and some of them watched.

        The process cannot tell them from timed calls: whoever works here, and how well, does so there too.
        """
        start = time.monotonic()
        for number, trial in enumerate(trials):
            spent = time.monotonic() - start
            if number >= FEWEST_TRIALS and spent > TRIAL_SECONDS:
                return
            placed = self._timer.prepared.room(trial.inputs).place(trial.inputs, number % SLOTS)
            self._seat(CANDIDATE, placed)
            self._timer.prepared.room(trial.inputs).fill(placed)
            watched = number < MOST_WATCHED and spent <= WATCH_SECONDS
            answer = self._observer.watch(self._contestant) if watched else self._contestant.go()
            self._stopped.begin()
            self._timer.judge_answer(self._contestant, trial, answer)
            self._contestant.check_mappings()

    def _seat(self, name: str, placed: Placed) -> None:
        """Lays the inputs before a worker and stops it."""
        worker = self._workers[name]
        if name == CANDIDATE:
            with self._contestant.judged():
                self._stopped.check()
                worker.thaw()
                self._contestant.lay_placed(placed)
                self._stopped.begin()
            return
        worker.freeze()
        self._pings.append(self._baseline_call(worker, "ping").seconds)
        stage = self._timer.prepared.stage
        assert stage is not None
        worker.attach(stage, timeout=CALL_SECONDS)
        worker.stage(placed, timeout=CALL_SECONDS)
        worker.freeze()

    def _await_quiet(self) -> None:
        """Waits, within reason, until nobody disturbs. Decided with everyone frozen: no candidate has a say in it."""
        while self._attention.disturbed():
            if self._timing.patience <= 0:
                self._timing.disturbed += 1
                return
            time.sleep(NAP_SECONDS)
            self._timing.patience -= NAP_SECONDS

    def _turn(self, name: str, samples: dict[str, list[float]], fully: bool) -> _Look:
        worker = self._workers[name]
        with self._contestant.judged():
            self._stopped.check()
        if name != CANDIDATE:
            answer = self._baseline_call(worker, "go")
            look = _Look(worker, answer, self._random, fully)
            worker.freeze()
        else:
            answer = self._contestant.go()
            with self._contestant.judged():
                self._stopped.begin()
            self._contestant.check_structure(answer, self._trial.expected)
            self._contestant.check_earlier()
            with self._contestant.judged():
                look = _Look(worker, answer, self._random, fully)
        samples[name].append(answer.seconds)
        return look

    def _baseline_call(self, worker: Worker, op: str) -> Answer:
        answer = worker.go(timeout=CALL_SECONDS, op=op)
        if not isinstance(answer, Answer):
            raise TaskError("a baseline failed while it was timed", self._timer.prepared.task.origin)
        return answer

    def _verify(self, looks: dict[str, _Look], inputs: Packed, fully: bool) -> None:
        mine, theirs = looks[CANDIDATE], looks["eager"]
        for index, output in enumerate(self._trial.expected.outputs):
            budget = Deviation(1.5 * (output.budget.rms + output.own.rms), 1.5 * (output.budget.peak + output.own.peak))
            found, right = mine.pieces(index), theirs.values_at(index, mine)
            agrees = _agrees(found, right, output.dtype, budget)
            if agrees and fully:
                agrees = _agrees(mine.whole(index), theirs.whole(index), output.dtype, budget)
            if not agrees and not only_ties(mine.whole(index), theirs.whole(index), output.shape, inputs):
                self._doubt(inputs, mine, index, budget)
        self._timing.verified_fully += fully

    def _doubt(self, inputs: Packed, mine: _Look, index: int, budget: Deviation) -> None:
        """A timed result that differs from the reference's: is it late, wrong, or only ill-conditioned?"""
        then = mine.whole(index).copy()
        self._contestant.worker.thaw()
        self._timer.prepared.worker.thaw()
        time.sleep(LATE_SECONDS)
        with self._contestant.judged():
            now = self._contestant.worker.reader.tensor(mine.answer.leaves[index])
        evidence: dict[str, Any] = {"trial": "a timed call"}
        if not same_bytes(then, now):
            message = "its result was not finished when a timed call returned; it changed afterwards"
            raise Rejection(Status.TAMPER, message, **evidence)
        expected = self._timer.prepared.expect(inputs, self._trial.expected.outputs[index].reduction)
        output = expected.outputs[index]
        if not self._timer.excused(now, output, index, inputs):
            evidence |= describe_bad(output.oracle.bad(now, budget), now, output.oracle, output.shape)
            trial = Trial(self._trial.case, "timed", 0, inputs, expected)
            raise self._timer.wrong(self._contestant, Wrong(trial, index, lambda _: evidence, mine.answer, now))
        self._stopped.begin()


class Stopped:
    """Stops a candidate and makes sure that it stays so: not a moment of processor time until it is let go."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._since: float | None = None
        self._charged_late = 0

    def begin(self) -> None:
        self._worker.freeze()
        self._since = None
        while self._since != (now := self._worker.cpu_seconds()):  # the last time slice may be charged late
            self._since = now
            time.sleep(SLICE_SECONDS)

    def check(self) -> None:
        """Raises if the candidate ran meanwhile.

        Once may be the machine's doing: where a virtual core was taken away in the moment of stopping, its last time
        slice is charged when the core comes back. Who runs in spite of being stopped does so again and again.
        """
        if self._since is None or (now := self._worker.cpu_seconds()) - self._since <= STILL_SECONDS:
            return
        self._since = now
        self._charged_late += 1
        if self._charged_late > MOST_CHARGED_LATE:
            raise Rejection(Status.TAMPER, "ran while it was stopped and others were being timed")


class _Look:
    """What the judge saw of a result at the moment it was claimed: pieces always, everything if asked."""

    def __init__(self, worker: Worker, answer: Answer, rng: random.Random, fully: bool) -> None:
        self._worker, self.answer = worker, answer
        self._offsets = [_places(leaf, rng) for leaf in answer.leaves]
        self._pieces = [self._sample(leaf, at) for leaf, at in zip(answer.leaves, self._offsets, strict=True)]
        self._whole: dict[int, Array] = {}
        if fully:
            for index in range(len(answer.leaves)):
                self.whole(index)

    def _sample(self, leaf: Leaf, offsets: Array | None) -> Array:
        if offsets is None:
            return self._worker.reader.tensor(leaf).copy()
        return self._worker.reader.sample(leaf, offsets, PIECE_BYTES).view(NUMPY[leaf["dtype"]])

    def pieces(self, index: int) -> Array:
        return self._pieces[index]

    def whole(self, index: int) -> Array:
        """All of it. Copied where outputs might share the reader's buffer; for one output that would only cost."""
        if index not in self._whole:
            values = self._worker.reader.tensor(self.answer.leaves[index])
            self._whole[index] = values.copy() if len(self.answer.leaves) > 1 else values
        return self._whole[index]

    def values_at(self, index: int, other: _Look) -> Array:
        """This result in the places where the other one was looked at."""
        offsets = other._offsets[index]
        leaf = self.answer.leaves[index]
        if offsets is None:
            return self.whole(index)
        if not is_dense(leaf):
            size = NUMPY[leaf["dtype"]].itemsize
            picks = (offsets[:, None] // size + np.arange(PIECE_BYTES // size)).reshape(-1)
            return self.whole(index)[picks]
        return self._worker.reader.sample(leaf, offsets, PIECE_BYTES).view(NUMPY[leaf["dtype"]])


def _places(leaf: Leaf, rng: random.Random) -> Array | None:
    """Where to look, chosen after the result was claimed. None: it is so small (or sparse) that all is read."""
    size = count(leaf) * NUMPY[leaf["dtype"]].itemsize
    if size <= PIECES * PIECE_BYTES or not is_dense(leaf):
        return None
    blocks = (size - PIECE_BYTES) // 64
    return np.array([rng.randrange(blocks + 1) * 64 for _ in range(PIECES)], dtype=np.int64)


def _agrees(found: Array, right: Array, dtype: str, budget: Deviation) -> bool:
    return len(right) == 0 or Yardstick(right, dtype).measure(found).within(budget)
