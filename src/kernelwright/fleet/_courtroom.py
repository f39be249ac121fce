"""One job after the other before one judge; a fault of the machine is told apart from everything else."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from kernelwright.fleet._ahead import Ahead
from kernelwright.fleet._device import device_name
from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.judge import Judge, Limits, OutOfReach, Profile, Verdict, machine, profile
from kernelwright.tasks import Task, TaskError

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
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            with contextlib.suppress(Exception):
                ahead.close()
        if judge is not None:
            # One that has failed may fail to end in good order; its processes end with their channels.
            with contextlib.suppress(Exception):
                judge.close()

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
        """The verdict or the profile, or why the task has none. Raises Fault."""
        self._check_device(job)
        try:
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
            self.close()
            seeds = {"reveal_seeds": True} if job.final else {}
            self._judge = self._judges(limits=Limits(**job.limits), baselines=job.baselines, **seeds)  # type: ignore[arg-type]
            self._ahead = Ahead(self._judge)
            self._asked = asked
        return self._judge
