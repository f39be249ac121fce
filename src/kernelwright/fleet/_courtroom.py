"""One job after the other before one judge; a fault of the machine is told apart from everything else."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any

from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.judge import Judge, Limits, OutOfReach, machine
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
    """A judge that stays as long as jobs ask for the same one, and is replaced by a new one after a fault."""

    def __init__(self, judges: JudgeMaker = Judge) -> None:
        self._judges = judges
        self._judge: Judge | None = None
        self._asked: tuple[Any, ...] = ()
        self.where = _where()

    def close(self) -> None:
        judge, self._judge = self._judge, None
        if judge is not None:
            # One that has failed may fail to end in good order; its processes end with their channels.
            with contextlib.suppress(Exception):
                judge.close()

    def hear(self, job: Job) -> Result:
        """The verdict, or why the task has none. Raises Fault."""
        try:
            task = Task.from_wire(job.task)
            verdict = self._fitting(job).judge(task, job.source, timed=job.timed, backend=job.backend)
        except TaskError as error:
            return self.result(job, Kind.REFUSED, reason=str(error))
        except OutOfReach as error:
            raise Fault(str(error), hopeless=True) from error
        except Exception as error:
            # Whatever a judge dies of is not the candidate's doing.
            self.close()
            raise Fault(f"{type(error).__name__}: {error}") from error
        if not verdict.checked:
            raise Fault(verdict.message, hopeless=True)
        return self.result(job, Kind.JUDGED, verdict=verdict.to_json())

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
        return Result(kind=kind, job=job.name, candidate=job.candidate, where=self.where, judge=judge_version(), **what)

    def _fitting(self, job: Job) -> Judge:
        asked = (job.baselines, sorted(job.limits.items()))
        if self._judge is None or asked != self._asked:
            self.close()
            self._judge = self._judges(limits=Limits(**job.limits), baselines=job.baselines)  # type: ignore[arg-type]
            self._asked = asked
        return self._judge


def _where() -> str:
    facts = machine()
    device = facts["cpu"] if facts["gpu"] == "absent" else facts["gpu"]
    return f"{socket.gethostname()} ({device})"
