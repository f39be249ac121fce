"""What the real judge said of members of a family, kept in a file, and a fleet that answers from it."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.engine._preflight import trials
from kernelwright.fleet import Job, Kind, Result
from kernelwright.tasks import Task
from tests.simulated._family import Family, Member

VERDICTS = Path(__file__).parent / "verdicts"


class NotJudged(LookupError):
    """A member is asked for that is not in the table."""


def place(family: Family) -> Path:
    return VERDICTS / f"{family.name}.json"


@dataclass
class Table:
    """Verdicts by member. `about`: on which machine and day, by which judge."""

    about: dict[str, str]
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, family: Family) -> Table:
        if not place(family).exists():
            raise NotJudged(f"no member of {family.name} was judged yet: {_to_do(family)}.")
        return cls(**json.loads(place(family).read_text()))

    def log_speedup(self, member: Member) -> float:
        """As it was recorded, of a member that was accepted."""
        return math.log(self.verdicts[member.key]["speedup"]["ratio"])

    def write(self, family: Family) -> None:
        lines = [f" {json.dumps(key)}: {json.dumps(kept)}" for key, kept in self.verdicts.items()]
        body = ",\n".join(lines)
        whole = place(family).with_suffix(".new")
        whole.write_text(f'{{"about": {json.dumps(self.about)},\n"verdicts": {{\n{body}\n}}}}\n')
        whole.replace(place(family))


class TableFleet:
    """Answers from a table. The first measurement is the recorded one; further ones are drawn from its samples.

    Args:
        seed: Of the draws, so that a run can be repeated.
    """

    def __init__(self, family: Family, table: Table, task: Task, seed: int) -> None:
        self._family, self._table, self._seed = family, table, seed
        self._fates = {trial.source: min(trial.expect) for trial in trials(task)}
        self._waiting: dict[str, Job] = {}

    def submit(self, job: Job) -> None:
        self._waiting.setdefault(job.name, job)

    def finished(self, timeout: float) -> Iterable[Result]:
        if not self._waiting:
            return []
        job = self._waiting.pop(next(iter(self._waiting)))
        about = self._table.about
        told = self._verdict(job)
        return [
            Result(
                kind=Kind.JUDGED,
                job=job.name,
                candidate=job.candidate,
                where=about["cpu"],
                judge=about["judge"],
                verdict=told,
            )
        ]

    def close(self) -> None: ...

    def _verdict(self, job: Job) -> dict[str, Any]:
        blank = {"time_ms": {}, "speedup": {}, "evidence": {}, "candidate": job.candidate, "task": job.task_hash}
        if job.source in self._fates:
            status = self._fates[job.source]
            return {**blank, "status": str(status), "accepted": status == "CORRECT", "message": "", "seconds": {}}
        kept = self._kept(self._family.recognised(job.source))
        told = {**blank, "status": kept["status"], "accepted": kept["accepted"], "message": kept.get("message", "")}
        told["seconds"] = {"total": kept["seconds"]}
        if "speedup" in kept:
            rng = random.Random(f"{self._seed} {job.candidate} {job.measurement}")
            told["time_ms"] = kept["time_ms"]
            told["speedup"] = {"eager": kept["speedup"] if job.measurement == 1 else measured_again(kept, rng)}
        return told

    def _kept(self, member: Member) -> dict[str, Any]:
        kept = self._table.verdicts.get(member.key)
        if kept is None:
            raise NotJudged(f"{member.key} of {self._family.name} was not judged yet: {_to_do(self._family)}.")
        return kept


def _to_do(family: Family) -> str:
    how = " --visited, with these ways, seeds and evaluations" if family.visited else ""
    return f"run python -m tests.simulated.judge_family {family.name}{how}"


def measured_again(kept: dict[str, Any], rng: random.Random) -> dict[str, float]:
    """Another measurement of the same kernel: blocks drawn again, then samples within each; as wide as before."""
    blocks = kept["log_ratios"]
    drawn = [rng.choice(block) for block in rng.choices(blocks, k=len(blocks)) for _ in block]
    shift = statistics.median(drawn) - math.log(kept["speedup"]["ratio"])
    return {name: value * math.exp(shift) for name, value in kept["speedup"].items()}
