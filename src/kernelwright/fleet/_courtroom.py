"""One job after the other before one judge; a fault of the machine is told apart from everything else."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from kernelwright.fleet._ahead import Ahead
from kernelwright.fleet._device import device_name
from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.judge import Judge, Limits, OutOfReach, Profile, Template, Verdict, machine, profile
from kernelwright.tasks import Task, TaskError
from kernelwright.tuning import Rules, TuningError, race

MOST_FAULTS = 3

JudgeMaker = Callable[..., Judge]


class Fault(Exception):
    """The machine failed, not the candidate.

    Attributes:
        hopeless: This machine lacks something; trying again here is in vain.
    """

    def __init__(self, reason: str, *, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.hopeless = hopeless


class Courtroom:
    """A judge that stays as long as jobs ask for the same one, and is replaced by a new one after a fault.

    Who follows because another is asked for has secrets of its own, and takes over the process that has loaded torch:
    it knows no task. After a fault nothing is taken over.

    Args:
        judges: Makes the judge.
        device: What this device is called; found out if not said.
    """

    def __init__(self, judges: JudgeMaker = Judge, *, device: str | None = None) -> None:
        self._judges, self._device = judges, device
        self._judge: Judge | None = None
        self._ahead: Ahead | None = None
        self._asked: tuple[Any, ...] = ()

    @cached_property
    def where(self) -> str:
        """Which machine this is, and what it judges on."""
        facts = machine()
        device = facts["cpu"] if facts["gpu"] == "absent" else facts["gpu"]
        return f"{socket.gethostname()} ({device})"

    def close(self) -> None:
        judge, self._judge = self._judge, None
        self._stop_building()
        if judge is not None:
            # One that has failed may fail to end in good order; its processes end with their channels.
            with contextlib.suppress(Exception):
                judge.close()

    def _taken_over(self, judge: Judge) -> Template | None:
        """What this judge leaves to the next; nothing where he does not end in good order."""
        self._stop_building()
        try:
            return judge.retire()
        except Exception:
            self.close()
            return None

    def _stop_building(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            with contextlib.suppress(Exception):
                ahead.close()

    # Ahead of a hearing: what fails there fails again in the hearing, and is told then.

    def expect(self, job: Job) -> None:
        """A job has come and waits. Called from any thread."""
        ahead = self._ahead
        if ahead is not None:
            with contextlib.suppress(Exception):
                ahead.begin(job.source)

    def make_ready(self, jobs: Sequence[Job]) -> None:
        """The first of these is heard next, the others wait behind it."""
        with contextlib.suppress(Exception):
            self._fitting(jobs[0])
            if self._ahead is not None:
                self._ahead.make_ready([job.source for job in jobs])

    def hear(self, job: Job) -> Result:
        """The verdict, the profile or the race, or why the task has none. Raises Fault."""
        self._check_device(job)
        try:
            if job.race is not None:
                return self._raced(job, job.race)
            return self._profiled(job) if job.profile_of is not None else self._judged(job)
        except TaskError as error:
            return self.result(job, Kind.REFUSED, reason=str(error))
        except OutOfReach as error:
            raise Fault(str(error), hopeless=True) from error
        except Fault:
            raise
        except Exception as error:
            # Whatever a judge dies of is not the candidate's doing.
            self.close()
            raise Fault(f"{type(error).__name__}: {error}") from error
        finally:
            if self._ahead is not None:
                self._ahead.forget(job.source)

    def _check_device(self, job: Job) -> None:
        if job.device is not None:
            self._device = self._device or device_name(machine())
            if job.device != self._device:
                raise Fault(f"this is {self._device}, and not {job.device}", hopeless=True)

    def _judged(self, job: Job) -> Result:
        task = Task.from_wire(job.task)
        how: dict[str, Any] = {"timed": job.timed, "backend": job.backend, "on_device": job.on_device}
        verdict = self._fitting(job).judge(task, job.source, **how)
        if not verdict.checked:
            raise Fault(verdict.message, hopeless=True)
        return self.result(job, Kind.JUDGED, verdict=verdict.to_json())

    def _profiled(self, job: Job) -> Result:
        """A profile is a help and no more: where it fails, that is said, and nobody tries again."""
        assert job.profile_of is not None
        try:
            before = Verdict.from_json(job.profile_of)
            found = profile(self._fitting(job), Task.from_wire(job.task), job.source, verdict=before)
        except Exception as error:
            return self.result(job, Kind.PROFILED, reason=f"{type(error).__name__}: {error}")
        if isinstance(found, Profile):
            return self.result(job, Kind.PROFILED, profile=found.to_json())
        return self.result(job, Kind.PROFILED, reason=found.message)

    def _raced(self, job: Job, rules: Mapping[str, Any]) -> Result:
        try:
            found = race(self._fitting(job), Task.from_wire(job.task), job.source, Rules(**rules))
        except TuningError as error:
            return self.result(job, Kind.RACED, reason=str(error))
        return self.result(job, Kind.RACED, race=found)

    def hear_patiently(self, job: Job) -> Result:
        """The same, with faults tried again here; INFRA when it was in vain."""
        reason = ""
        for _ in range(MOST_FAULTS):
            try:
                return self.hear(job)
            except Fault as fault:
                reason = str(fault)
                if fault.hopeless:
                    break
        return self.result(job, Kind.INFRA, reason=reason)

    def result(self, job: Job, kind: Kind, **what: Any) -> Result:
        return Result.of(job, kind, where=self.where, judge=judge_version(), **what)

    def _fitting(self, job: Job) -> Judge:
        asked = (job.baselines, sorted(job.limits.items()), job.final)
        if self._judge is None or asked != self._asked:
            how: dict[str, Any] = {"reveal_seeds": True} if job.final else {}
            if self._judge is not None:
                how["template"] = self._taken_over(self._judge)
            limits = Limits(**job.limits)  # type: ignore[arg-type]
            self._judge = self._judges(limits=limits, baselines=job.baselines, **how)
            self._ahead = Ahead(self._judge)
            self._asked = asked
        return self._judge
