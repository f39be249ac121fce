"""A candidate before the judge, on a device."""

from __future__ import annotations

from kernelwright import backends
from kernelwright.judge._check import Checker, Wrong
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._coverage import Observer
from kernelwright.judge._hearing import Hearing
from kernelwright.judge._reference import TooLarge
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge._timing import CaseTiming
from kernelwright.judge.device import _kernels, _listing
from kernelwright.judge.device._check import DeviceChecker
from kernelwright.judge.device._contestant import DeviceContestant, Profiled
from kernelwright.judge.device._prepared import AHEAD, DevicePrepared
from kernelwright.judge.device._timing import BLOCKS, DeviceTimer, look_at_kernels, same_work

COPIED_BYTES = 1 << 30
# Graphs need torch's own allocator; baselines are given the candidates'.
MODES = {"compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


class DeviceHearing(Hearing):
    """The same hearing, with everything that touches memory done on the device."""

    _prepared: DevicePrepared

    def _new_checker(self) -> Checker:
        return DeviceChecker(self._prepared, self._start, self._help_the_others)

    def _new_observers(self) -> dict[str, Observer]:
        return {}

    def _settle_scope(self) -> None:
        """It can be taken all the way."""

    def _hear(self) -> tuple[Status, str]:
        self._waiting: list[DeviceContestant] = []
        self._watched: DeviceContestant | None = None
        self._muted: DeviceContestant | None = None
        try:
            return super()._hear()
        except TooLarge as error:  # there was room before it came
            message = "leaves the reference no room on the device (--set NAME=VALUE makes the task smaller)"
            raise Rejection(Status.OOM, message) from error
        finally:
            for contestant in (*self._waiting, self._watched, self._muted):
                if contestant is not None:
                    contestant.close()
            self._prepared.workshop.open_ahead(AHEAD)
            self._prepared.workshop.let_all_in()

    def _begin(self, kind: type[DeviceContestant] = DeviceContestant, **how: bool) -> DeviceContestant:
        judge = self._judge
        return kind(judge.template, self._prepared, judge.builder, self._source, limits=judge.limits, **how)

    def _start(self) -> Contestant:
        stage = self._stage
        with self._during("load" if stage in ("screen", "load") else stage, "load"):
            if stage == "time" and self._waiting:
                contestant = self._waiting.pop(0)
                contestant.end_warming()
                return contestant
            return self._begin()

    def _start_ahead(self) -> None:
        """The processes of the next candidate are opened while this one is judged."""

    def _start_muted(self) -> Contestant:
        muted, self._muted = self._muted or self._begin_muted(), None
        try:
            muted.try_loading(wait=True)
            muted.loaded()
        except BaseException:
            muted.close()
            raise
        return muted

    def _begin_muted(self) -> DeviceContestant:
        return self._begin(mute=True, at_leisure=True)

    def _check(self, contestant: Contestant) -> None:
        super()._check(contestant)
        with self._during("check", "check"):
            self._help_the_others(wait=True)

    def _help_the_others(self, *, wait: bool = False) -> None:
        """While it is checked in one process it is loaded, and what it compiles is compiled, in those to be timed.

        From the first trial on that it was right on: one that is wrong needs none of them.
        """
        if self._watched is None:
            self._watched = self._begin(Profiled, at_leisure=True)
            self._waiting = [self._begin(at_leisure=True) for _ in range(BLOCKS * self._timed)]
            self._muted = self._begin_muted() if self._prepared.task.library != "allowed" else None
        others = (self._watched, *self._waiting)
        for other in (*others, *filter(None, [self._muted])):
            other.try_loading(wait=wait)
        for other in others:
            other.try_warming(self._prepared.trials[0], wait=wait)  # type: ignore[arg-type]

    def _attribute(self, contestant: Contestant) -> None:
        with self._during("attribute", "check"):
            self._judge_kernels({case: kernels for case, (kernels, _) in self._kernels().items()})
            if self._prepared.task.library != "allowed":
                self._without_kernels()

    def _kernels(self) -> dict[str, tuple[dict[str, float], float]]:
        """The kernels of one call a case, seen in a process of its own, and how long any of them ran."""
        watched = self._watched
        assert watched is not None
        watched.stage_name = "attribute"
        watched.end_warming()
        try:
            checker = self._checker
            assert isinstance(checker, DeviceChecker)
            cases = self._prepared.task.cases
            seen = {case.name: look_at_kernels(watched, checker, self._first_trial(case)) for case in cases}  # type: ignore[arg-type]
            self._busy_seconds = {case: busy for case, (_, busy) in seen.items()}
            return seen
        except Wrong as wrong:
            raise self._checker.diagnose(watched, wrong) from wrong

    def _code(self, contestant: Contestant) -> dict[str, dict[str, int]]:
        """Triton compiles in the candidate's own process, so what it made there is handed over by that.

        Whoever forges it keeps what his text asks for, as if nobody had looked.
        """
        found = super()._code(contestant)
        if isinstance(self._watched, Profiled) and backends.get("triton").recognises(self._source):
            found |= _listing.triton_counts(self._watched.compiled_files(endings=(".ptx",)))
        return found

    # Time

    def _time(self) -> list[CaseTiming]:
        self._stage = "time"
        runners = self._prepared.runners({name: MODES.get(name) for name in self._judge.baselines})
        with self._during("time", "time"):
            before = self._seconds["load"]
            timer = DeviceTimer(self._prepared, self._checker, self._start, runners)  # type: ignore[arg-type]
            timings = [timer.time(case, self._busy_seconds[case.name]) for case in self._prepared.task.cases]
            for runner in runners.values():
                runner.rest()
        self._seconds["time"] -= self._seconds["load"] - before
        self._evidence["device"] = timer.health
        for timing in timings:
            same_work(timing, self._busy_seconds[timing.case])
        self._report(timings)
        return timings

    def _judge_kernels(self, kernels: dict[str, dict[str, float]]) -> None:
        work = {case: _kernels.Work.of(found) for case, found in kernels.items()}
        self._found["coverage"] = round(min(found.share for found in work.values()), 4)
        self._evidence["work"] = {case: found.to_json() for case, found in work.items()}
        for found in work.values():
            _kernels.judge_work(self._prepared.task.library, found)

    def _physics(self, timings: list[CaseTiming]) -> None:
        """Inputs are not in any cache when a timed call begins, so at least they must come from memory."""
        self._stage = "physics"
        speed = self._prepared.bandwidth(COPIED_BYTES)
        floors = {}
        for timing in timings:
            read = self._prepared.probes[timing.case].bytes_read
            floors[timing.case] = read / speed * 1e3
            self._believable(timing, read / speed, read)
        self._evidence["floor_ms"] = floors
