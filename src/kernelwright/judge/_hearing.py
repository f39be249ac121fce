"""One candidate before the judge: screen, build and load, check, attribute, time, decide."""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kernelwright import backends, native
from kernelwright.backends import Scope
from kernelwright.judge import _coverage, _interpreted, _machine
from kernelwright.judge._ceilings import SLACK
from kernelwright.judge._check import Checker, Wrong
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._coverage import Observer
from kernelwright.judge._expected import Trial
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._status import OutOfReach, Rejection, Status
from kernelwright.judge._timing import BLOCKS, CANDIDATE, CaseTiming, Timer, speedup
from kernelwright.judge._verdict import Verdict, source_hash
from kernelwright.tasks import Case

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

SECOND_LOOKS = 3
MOST_NEIGHBOURS = 2
# How often a few weights change in place: who looks at a sample of them may hit one of those once.
TOUCHES = 3
_ON_CPU = " (in Triton's interpreter: its tensors are on the CPU, so it must allocate on the device of its inputs)"
CIRCUMSTANCES = {
    Status.LOAD_ERROR: _ON_CPU,
    Status.CRASH: _ON_CPU,
    Status.TIMEOUT: " (in Triton's interpreter, which is slow: make the task smaller with --set NAME=VALUE)",
}


class _Fresh:
    """One trial a case whose seed did not exist when the candidate was loaded, drawn while it meets the others."""

    def __init__(self, prepared: Prepared) -> None:
        self._fetch = [prepared.begin_fresh(case) for case in prepared.task.cases]
        self._trials: list[Trial] | None = None

    def trials(self) -> list[Trial]:
        if self._trials is None:
            found = [fetch() for fetch in self._fetch]
            self._trials = [trial for trial in found if trial is not None]
        return self._trials


def _target(source: str) -> str:
    named = any(flag in source for flag in ("-arch=", "-gencode"))
    return "the architecture it names" if named else native.chosen_architecture()


class Hearing:
    """One candidate before the judge."""

    def __init__(self, judge: Judge, prepared: Prepared, source: str, *, timed: bool, backend: str | None) -> None:
        self._backend = backend
        self._judge, self._prepared, self._source, self._timed = judge, prepared, source, timed
        self._seconds = {"build": 0.0, "load": 0.0, "check": 0.0, "time": 0.0}
        self._evidence: dict[str, Any] = {
            "seed_commitment": hashlib.sha256(str(judge.seed).encode()).hexdigest(),
            "isolation": judge.isolation.level,
        }
        if judge.reveal_seeds:
            self._evidence |= {"seed": judge.seed, "weights_seed": prepared.weight_seed}
        self._found: dict[str, Any] = {}
        self._scope = Scope.TIMED
        self._operators: dict[str, int] = {}
        self._stage = "screen"
        self._checker = self._new_checker()
        self._observers = self._new_observers()

    def _new_checker(self) -> Checker:
        return Checker(self._prepared, self._start)

    def _new_observers(self) -> dict[str, Observer]:
        glue = self._judge.journey_glue(self._prepared)
        return {case.name: Observer(glue) for case in self._prepared.task.cases}

    def verdict(self) -> Verdict:
        begun = time.perf_counter()
        self._judge.builder.seconds = 0.0
        try:
            status, message = self._hear()
        except Rejection as rejection:
            status, message = rejection.status, rejection.message + self._circumstance(rejection.status)
            self._stage = str(rejection.evidence.pop("stage", self._stage))
            self._evidence |= rejection.evidence
            self._found = {"coverage": self._found.get("coverage")}
        finally:
            self._judge.drop_ahead()
            self._seconds["build"] = self._judge.builder.seconds
            self._seconds["load"] = max(0.0, self._seconds["load"] - self._seconds["build"])
            self._seconds["total"] = time.perf_counter() - begun
        return Verdict(
            status=status,
            stage=self._stage,
            message=message,
            task=self._prepared.task.hash,
            candidate=source_hash(self._source),
            seconds={name: round(value, 4) for name, value in self._seconds.items()},
            evidence=self._evidence,
            machine=self._judge.machine | _machine.now(),
            **self._found,
        )

    def _circumstance(self, status: Status) -> str:
        """What to know of a failure that a GPU might have spared the candidate."""
        return CIRCUMSTANCES.get(status, "") if self._interpreted else ""

    @property
    def _interpreted(self) -> bool:
        return self._scope is Scope.CHECKED

    def _hear(self) -> tuple[Status, str]:
        self._screen()
        if self._scope is Scope.COMPILED:
            return self._only_build()
        self._prepared.use_weights(self._prepared.weight_seed)
        contestant = self._start()
        try:
            self._check(contestant)
            # Only now: most that fail do so above, and ending an unused process costs as much as starting it.
            self._start_ahead()
            self._judge.inventory.expect(contestant.libraries)
            self._attribute(contestant)
            self._neighbours(contestant)
        finally:
            contestant.close()
        status, message = self._timed_status() if self._timed else (Status.UNTIMED, self._why_untimed())
        self._note_code(contestant)
        return status, message

    def _timed_status(self) -> tuple[Status, str]:
        timings = self._time()
        self._physics(timings)
        return Status.CORRECT, self._summary()

    def _note_code(self, contestant: Contestant) -> None:
        """What it was compiled to, for whoever places it among others. Without it, the verdict is the same."""
        try:
            code = self._code(contestant)
        except Exception:  # Code made to break its reader is accepted all the same: it was right, and timed.
            return
        if code:
            self._evidence["code"] = code

    def _code(self, contestant: Contestant) -> dict[str, dict[str, int]]:
        return self._judge.inventory.of(contestant.libraries)

    def _start_ahead(self) -> None:
        self._judge.start_ahead(1 + self._timed * BLOCKS * len(self._prepared.task.cases))

    def _why_untimed(self) -> str:
        if self._interpreted:
            return f"correct in Triton's interpreter, on CPU tensors; not timed: {backends.without_device()}"
        return "correct; not timed, as asked"

    def _only_build(self) -> tuple[Status, str]:
        """The candidate is imported, which compiles its text; no call is made, so nothing is known of its results."""
        with self._during("build", "load"):
            contestant = self._judge.start(self._prepared, self._source, only_build=True)
            contestant.close()
        compiled = contestant.has_compiled("cuda")
        self._found["checked"] = False
        self._evidence["compiler"] = native.cuda_compilers()
        what = f"compiles for {_target(self._source)}" if compiled else "compiles no CUDA before it is called"
        unknown = "nothing was run or checked, so whether it is right is not known"
        return Status.UNTIMED, f"{what}; {unknown}: {backends.without_device()}"

    @contextmanager
    def _during(self, stage: str, part: str) -> Iterator[None]:
        self._stage = stage
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] += time.perf_counter() - start

    # Screen and load

    def _screen(self) -> None:
        size = len(self._source.encode(errors="surrogatepass"))
        if size > self._judge.limits.source_bytes:
            raise Rejection(
                Status.LOAD_ERROR, f"the source is {size} bytes, more than {self._judge.limits.source_bytes}"
            )
        try:
            ast.parse(self._source)
            self._source.encode()
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Rejection(Status.LOAD_ERROR, f"not valid Python: {error}") from error
        backend = backends.get(self._backend or backends.detect(self._source))
        if self._backend and self._backend != "python" and not backend.recognises(self._source):
            raise Rejection(Status.LOAD_ERROR, f"the candidate does not use the backend asked for, {self._backend}")
        self._evidence |= {"backend": backend.name, "flags": list(backend.screen(self._source))}
        self._settle_scope()

    def _settle_scope(self) -> None:
        """How far this machine can take it: a matter of what it uses, whatever backend was asked for."""
        used = backends.get(backends.detect(self._source))
        self._scope = used.scope()
        self._timed = self._timed and self._scope is Scope.TIMED
        if self._scope is Scope.TIMED:
            return
        available = used.available()
        if not available.ok:
            raise OutOfReach(f"the candidate needs the backend {used.name}: {available.detail}", available.fix)

    def _start(self) -> Contestant:
        stage = self._stage
        with self._during("load" if stage in ("screen", "load") else stage, "load"):
            return self._judge.start(self._prepared, self._source, interpret=self._interpreted)

    # Check

    def _check(self, contestant: Contestant) -> None:
        with self._during("check", "check"):
            fresh = _Fresh(self._prepared)
            try:
                self._checker.check(contestant, fresh.trials)
                if not self._timed:
                    contestant.check_idle()
                if self._prepared.task.weights == "live" and self._prepared.weight_shapes:
                    self._live_weights(contestant)
            finally:
                self._evidence["check"] = self._checked(fresh.trials())

    def _live_weights(self, contestant: Contestant) -> None:
        """Weights change in place between calls: the next result must follow."""
        try:
            for touch in (False, *[True] * TOUCHES):
                self._prepared.use_weights(self._prepared.seeds.next(), touch=touch)
                contestant.give_weights()
                for trial in _Fresh(self._prepared).trials():
                    self._checker.one(contestant, trial)
        except Wrong as wrong:
            raise Rejection(
                Status.STATEFUL,
                "its result does not follow when weights change in place (this task's weights are live)",
                **wrong.evidence,
            ) from wrong
        finally:
            self._prepared.use_weights(self._prepared.weight_seed)

    def _checked(self, fresh: list[Trial]) -> dict[str, Any]:
        record = self._checker.record
        return {
            "calls": record.calls,
            "trials": [self._named(trial) for trial in (*self._prepared.trials, *fresh)],
            "skipped_families": self._prepared.skipped,
            "error_budget_used": round(record.worst, 4) if record.worst < 1e9 else "far over",
            "run_to_run_spread": record.spread,
        }

    def _named(self, trial: Trial) -> dict[str, Any]:
        return {"trial": trial.label} | ({"seed": trial.seed} if self._judge.reveal_seeds else {})

    def _attribute(self, contestant: Contestant) -> None:
        """A first look at who does the work, so that the worst need not be timed."""
        with self._during("attribute", "check"):
            if self._interpreted:
                self._count_launches(contestant)
            else:
                self._watch(contestant)
                self._judge_work_patiently()
            if self._prepared.task.library != "allowed":
                self._without_kernels()

    def _watch(self, contestant: Contestant) -> None:
        for case in self._prepared.task.cases:
            self._observers[case.name].check(contestant, self._first_trial(case))
            self._operators |= self._observers[case.name].coverage.operators

    def _first_trial(self, case: Case) -> Trial:
        return next(trial for trial in self._prepared.trials if trial.case is case)

    def _count_launches(self, contestant: Contestant) -> None:
        """In an interpreter time says nothing of whose work it is; launches and torch's operators do."""
        self._evidence["work"] = {}
        for case in self._prepared.task.cases:
            seen = _interpreted.look(contestant, self._prepared, self._first_trial(case))
            self._evidence["work"][case.name] = seen.to_json()
            self._operators |= seen.operators
            _interpreted.judge_launches(self._prepared.task.library, seen)

    def _without_kernels(self) -> None:
        """Its own kernels switched off, in a process of its own: if the answer is still right, they are decoys."""
        trial = self._prepared.trials[0]
        try:
            silent = self._start_muted()
        except Rejection:
            return
        silent.stage_name = "attribute"
        try:
            right = self._checker.is_right(silent, trial)
        except Rejection:
            return
        finally:
            silent.close()
        if right:
            self._found["coverage"] = 0.0
            where = ", ".join(sorted(self._operators)[:5]) or "libraries"
            message = f"its answer is right even with its own kernels switched off; the work is done in {where}"
            raise Rejection(Status.LIBRARY_ONLY, message, operators=self._operators)

    def _start_muted(self) -> Contestant:
        return self._judge.start(self._prepared, self._source, interpret=self._interpreted, mute=True)

    def _judge_work_patiently(self) -> None:
        """On a busy machine samples mislead: before libraries are blamed it is watched again, first without kernels."""
        for look_closer in (self._watch_muted, *[self._look_again] * SECOND_LOOKS):
            try:
                return self._judge_work()
            except Rejection:
                look_closer()
        return self._judge_work()

    def _watch_muted(self) -> None:
        """How much of torch's time is spent around its kernels, not for them. Known for all looks to come."""
        with suppress(Rejection):  # a candidate that cannot live without its kernels is given no such excuse
            silent = self._start_muted()
            try:
                for case in self._prepared.task.cases:
                    self._observers[case.name].excuse(silent, self._first_trial(case))
            finally:
                silent.close()

    def _look_again(self) -> None:
        contestant = self._start()
        try:
            self._watch(contestant)
        finally:
            contestant.close()
        self._watch_muted()

    def _judge_work(self) -> None:
        self._stage = "attribute"
        found = {name: observer.coverage for name, observer in self._observers.items()}
        self._found["coverage"] = round(min(coverage.share for coverage in found.values()), 4)
        self._evidence["work"] = {name: coverage.to_json() for name, coverage in found.items()}
        for coverage in found.values():
            _coverage.judge_policy(self._prepared.task.library, coverage)

    def _neighbours(self, contestant: Contestant) -> None:
        """Nearby sizes: failing there is a property, not a fault."""
        with self._during("neighbours", "check"):
            contestant.stage_name = "neighbours"
            right: dict[str, bool] = {}
            for trial in self._prepared.neighbours()[:MOST_NEIGHBOURS]:
                right[trial.case.name] = self._right_on(contestant, trial) if all(right.values()) else False
            self._found["specialised"] = not right or not all(right.values())
            self._evidence["neighbours"] = right

    def _right_on(self, contestant: Contestant, trial: Any) -> bool:
        try:
            self._checker.one(contestant, trial)
        except (Wrong, Rejection):
            return False
        return True

    # Time

    def _time(self) -> list[CaseTiming]:
        self._stage = "time"
        workers = self._judge.baseline_workers(self._prepared)
        with self._during("time", "time"):
            before = self._seconds["load"]
            timer = Timer(self._prepared, self._checker, self._start, workers)
            self._forget_samples()
            timings = [timer.time(case, self._observers[case.name]) for case in self._prepared.task.cases]
        self._seconds["time"] -= self._seconds["load"] - before
        self._judge_work_patiently()
        self._report(timings)
        return timings

    def _forget_samples(self) -> None:
        """What counts is who works while it is timed; the operators recorded before still stand."""
        for observer in self._observers.values():
            observer.forget_samples()

    def _report(self, timings: list[CaseTiming]) -> None:
        weights = [timing.weight for timing in timings]
        for name in (CANDIDATE, *self._judge.baselines):
            mean = sum(w * t.median(name) for w, t in zip(weights, timings, strict=True)) / sum(weights)
            self._found.setdefault("time_ms", {})[name] = mean * 1e3
        for name in self._judge.baselines:
            found = speedup(timings, name)
            ratio = {"ratio": found.ratio, "low": found.low, "high": found.high}
            self._found.setdefault("speedup", {})[name] = ratio
        self._evidence["timing"] = [timing.to_json() for timing in timings]

    def _physics(self, timings: list[CaseTiming]) -> None:
        self._stage = "physics"
        floors = {}
        for timing in timings:
            probe = self._prepared.probes[timing.case]
            floor = self._judge.ceilings().floor_seconds(probe.bytes_moved)
            if timing.median(CANDIDATE) < SLACK * floor:
                floor = self._judge.raise_ceilings().floor_seconds(probe.bytes_moved)
            floors[timing.case] = floor * 1e3
            self._believable(timing, floor, probe.bytes_moved)
        self._evidence["floor_ms"] = floors

    def _believable(self, timing: CaseTiming, floor: float, bytes_moved: float) -> None:
        mine = timing.median(CANDIDATE)
        if mine < SLACK * floor:
            raise Rejection(
                Status.INVALID_PHYSICS,
                f"{mine * 1e3:.4g} ms is faster than this machine can move the {bytes_moved / 1e6:.4g} MB that the "
                f"answer depends on ({floor * 1e3:.4g} ms)",
                floor_ms=floor * 1e3,
                claimed_ms=mine * 1e3,
            )

    def _summary(self) -> str:
        parts = []
        for name, ratio in self._found["speedup"].items():
            parts.append(f"{ratio['ratio']:.2f}x {name} [{ratio['low']:.2f}, {ratio['high']:.2f}]")
        return "correct; " + ", ".join(parts) + self._busy()

    def _busy(self) -> str:
        """A warning where most rounds were begun while others used the machine: both sides suffer, not equally."""
        rounds = sum(len(block[CANDIDATE]) for timing in self._evidence["timing"] for block in timing["samples_ms"])
        busy = sum(timing["rounds_begun_on_a_busy_machine"] for timing in self._evidence["timing"])
        return f" (machine busy in {busy} of {rounds} rounds: time again when it is quiet)" if busy > rounds / 4 else ""
