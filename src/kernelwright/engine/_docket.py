"""Candidates before the judge: which jobs are under way, and how often machines have failed."""

from __future__ import annotations

from typing import Any

from kernelwright import backends
from kernelwright.engine._settings import RunError, Settings
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.tasks import Task

MOST_FAULTS = 3


class Docket:
    """The jobs of one run. Its length is the number of those under way."""

    def __init__(self, fleet: Fleet, task: Task, settings: Settings) -> None:
        self._fleet, self._limits, self._wire = fleet, settings.limits, task.to_wire()
        self._device = settings.device
        self._on_device = backends.get(settings.backend).for_device
        self._under_way: dict[str, Job] = {}
        self._faults = 0

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def new(self) -> int:
        """Candidates that are judged for the first time."""
        return sum(job.measurement == 1 for job in self._under_way.values())

    def job(self, candidate: str, source: str, **how: Any) -> Job:
        usual: dict[str, Any] = {"limits": self._limits, "on_device": self._on_device, "device": self._device}
        return Job(candidate=candidate, source=source, task=self._wire, **usual | how)

    def submit(self, job: Job) -> None:
        self._under_way[job.name] = job
        self._fleet.submit(job)

    def take(self, result: Result) -> Job | None:
        """The job that this is about; None where it is another's, or was told before."""
        job = self._under_way.pop(result.job, None)
        if job is not None and result.kind is Kind.REFUSED:
            raise RunError(f"the task cannot be judged: {result.reason}", "mend the task, then resume the run")
        return job

    def retry(self, job: Job, reason: str) -> None:
        """A machine failed, and nothing is learned from it: judged again, unless machines go on failing."""
        self._faults += 1
        if self._faults > MOST_FAULTS:
            raise RunError(f"the judge failed {self._faults} times: {reason}", "mend the machine, then resume")
        self.submit(job)
