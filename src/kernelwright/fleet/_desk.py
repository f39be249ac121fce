"""Jobs, faults and verdicts as files of a spool folder: what both sides of it read and write."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from kernelwright.fleet._courtroom import MOST_FAULTS
from kernelwright.fleet._folder import FORMAT, Content, Folder
from kernelwright.fleet._job import Job, Kind, Result, judge_version
from kernelwright.tasks import TaskError

# A worker that has not touched its job for so long is taken for dead. File systems over a network may be a minute late.
LEASE_S = 180.0


@dataclass(frozen=True)
class Faults:
    """How often machines failed at a job, and why they did the last time."""

    number: int
    reason: str = ""
    where: str = ""
    hopeless: bool = False

    @property
    def final(self) -> bool:
        return self.hopeless or self.number >= MOST_FAULTS


class Desk:
    """A spool folder in the words of the fleet."""

    def __init__(self, folder: Folder, *, lease_s: float) -> None:
        self.folder = folder
        self.lease_s = lease_s

    # Jobs

    def put_job(self, job: Job) -> None:
        task = f"tasks/{job.task_hash}.json"
        if self.folder.read(task) != job.task:
            self.folder.put(task, job.task)
        self.folder.put(f"waiting/{job.name}.json", {"format": FORMAT, "judge": judge_version(), "job": job.to_wire()})

    def judge_of(self, name: str) -> str | None:
        """The version of the judge that a waiting job asks for; None while the file is not whole."""
        content = self.folder.read(f"waiting/{name}.json")
        return None if content is None else str(content.get("judge"))

    def job(self, name: str) -> Job | None:
        """A job that was taken; None where something of it is missing or was changed."""
        content = self.folder.read(f"taken/{name}.json")
        try:
            wire = content["job"] if content else {}
            task = self.folder.read(f"tasks/{wire['task']}.json")
            job = Job.from_wire(wire, task) if task else None
            return job if job and job.name == name else None
        except (KeyError, TypeError, ValueError, AttributeError, TaskError):
            return None

    def take(self, name: str) -> bool:
        """Touched before it is moved: else it would look abandoned from the start."""
        self.folder.touch(f"waiting/{name}.json")
        return self.folder.move(f"waiting/{name}.json", f"taken/{name}.json")

    def put_back(self, name: str) -> bool:
        return self.folder.move(f"taken/{name}.json", f"waiting/{name}.json")

    def beat(self, name: str) -> None:
        self.folder.touch(f"taken/{name}.json")

    def clear(self, name: str) -> None:
        for part in ("waiting", "taken"):
            self.folder.remove(f"{part}/{name}.json")

    def is_taken(self, name: str) -> bool:
        return self.folder.has(f"taken/{name}.json")

    def is_under_way(self, name: str) -> bool:
        return self.folder.has(f"waiting/{name}.json") or self.is_taken(name)

    def recover(self) -> None:
        """Jobs whose worker has died wait again."""
        for name in self.folder.names("taken"):
            if self.has_verdict(name):
                self.folder.remove(f"taken/{name}.json")
            elif self.folder.age(f"taken/{name}.json") > self.lease_s and self.put_back(name):
                self.put_fault(name, "the worker that had taken it was not heard of again", "")

    # Faults

    def put_fault(self, name: str, reason: str, where: str, *, hopeless: bool = False) -> None:
        content = {"reason": reason, "where": where, "hopeless": hopeless}
        self.folder.put(f"faults/{name}.{uuid.uuid4().hex[:8]}.json", content)

    def faults(self, name: str) -> Faults:
        files = [file for file in self.folder.names("faults") if file.startswith(f"{name}.")]
        told = [content for file in files if (content := self.folder.read(f"faults/{file}.json"))]
        if not told:
            return Faults(len(files))
        last = told[-1]
        hopeless = any(content.get("hopeless") for content in told)
        return Faults(len(files), str(last.get("reason")), str(last.get("where")), hopeless)

    def fault_numbers(self) -> Counter[str]:
        """Of all jobs at once."""
        return Counter(file.partition(".")[0] for file in self.folder.names("faults"))

    def forget_faults(self, name: str) -> None:
        for file in self.folder.names("faults"):
            if file.startswith(f"{name}."):
                self.folder.remove(f"faults/{file}.json")

    # Verdicts

    def has_verdict(self, name: str) -> bool:
        return self.folder.has(f"verdicts/{name}.json")

    def put_result(self, result: Result) -> None:
        """The first one stays: who is late says nothing new."""
        if not self.has_verdict(result.job):
            self.folder.put(f"verdicts/{result.job}.json", {"format": FORMAT, "result": asdict(result)})

    def result(self, job: Job) -> Result | None:
        """What came of a job. None where nothing did, or no more than a part of a file, which may still grow."""
        content = self.folder.read(f"verdicts/{job.name}.json")
        result = None if content is None else _understood(content, job)
        if result is None and self.has_verdict(job.name):
            self._give_up_waiting_for_the_rest(job.name)
        return result

    def _give_up_waiting_for_the_rest(self, name: str) -> None:
        if self.folder.age(f"verdicts/{name}.json") > self.lease_s:
            self.folder.put_aside(f"verdicts/{name}.json")


def _understood(content: Content, job: Job) -> Result | None:
    """The result in a file; FOREIGN where another version wrote it; None where it is not about this job."""
    if content.get("format") != FORMAT:
        return _foreign(job, {}, f"has format {content.get('format')}, known here is {FORMAT}")
    try:
        wire: dict[str, Any] = content["result"]
        if wire["judge"] != judge_version():
            return _foreign(job, wire, f"is by judge {wire['judge']}, and this is {judge_version()}")
        result = Result(**{**wire, "kind": Kind(wire["kind"])})
        return result if _is_about(result, job) else None
    except (KeyError, TypeError, ValueError):
        return None


def _is_about(result: Result, job: Job) -> bool:
    if (result.job, result.candidate) != (job.name, job.candidate):
        return False
    if result.kind is Kind.PROFILED:
        return job.profile_of is not None
    if result.kind is Kind.RACED:
        return job.race is not None
    verdict = result.verdict
    if result.kind is not Kind.JUDGED or verdict is None:
        return result.kind is Kind.REFUSED
    return (verdict.get("candidate"), verdict.get("task")) == (job.candidate, job.task_hash)


def _foreign(job: Job, wire: dict[str, Any], why: str) -> Result:
    return Result(
        kind=Kind.FOREIGN,
        job=job.name,
        candidate=job.candidate,
        where=str(wire.get("where", "")),
        judge=str(wire.get("judge", "")),
        verdict=wire.get("verdict"),
        reason=f"the verdict on {job.name} {why}: it is kept and not used, and the job waits again",
    )
