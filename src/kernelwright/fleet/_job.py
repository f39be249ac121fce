"""What is to be judged, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from typing import Any

import kernelwright
from kernelwright.judge import BASELINES, limit_names, source_hash
from kernelwright.tasks import Task

LETTERS = 12  # of a hash, in the name of a job
PROFILE = "profile"
RARE = ("final", "profile_of", "on_device", "device")


def judge_version() -> str:
    """Verdicts of different versions are not compared."""
    return kernelwright.__version__


@dataclass(frozen=True, kw_only=True)
class Job:
    """One measurement of one candidate. Known by its content: the same job twice is one job.

    Attributes:
        candidate: The hash of the source.
        task: The task in its wire form.
        limits: Limits of the judge that differ from the usual ones.
        backend: The candidate's language; found out if not said.
        on_device: Judged on a device if there is one, whatever it is written in.
        measurement: Counts the measurements of a candidate, where one is not enough.
        final: The last measurement of a winner: by a judge of its own, with a new secret seed, which its verdict tells.
        device: Judged on a device of this name and on no other; wherever the fleet likes if not said.
        profile_of: A verdict on it whose time is to be explained; then a profile is wanted, and no further verdict.
    """

    candidate: str
    source: str = field(repr=False)
    task: dict[str, Any] = field(repr=False)
    timed: bool = True
    baselines: tuple[str, ...] = ("eager",)
    limits: dict[str, float] = field(default_factory=dict)
    backend: str | None = None
    on_device: bool = False
    measurement: int = 1
    final: bool = False
    profile_of: dict[str, Any] | None = field(default=None, repr=False)
    device: str | None = None

    def __post_init__(self) -> None:
        if self.candidate != source_hash(self.source):
            raise ValueError(f"the source is not that of candidate {self.candidate[:LETTERS]}")
        _check_names("baseline", self.baselines, BASELINES)
        _check_names("limit", self.limits, limit_names())

    @cached_property
    def task_hash(self) -> str:
        return Task.from_wire(self.task).hash

    @cached_property
    def name(self) -> str:
        """A file name; jobs of one task and of one candidate begin alike."""
        content = json.dumps(self.to_wire(), sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
        kind = [PROFILE] if self.profile_of is not None else []
        return "-".join([*(text[:LETTERS] for text in (self.task_hash, self.candidate, digest)), *kind])

    def to_wire(self) -> dict[str, Any]:
        """Everything but the task, of which only the hash is told: it travels once for all its jobs."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        for rare in RARE:  # told where they are meant: names of other jobs stay what they were
            if not plain[rare]:
                del plain[rare]
        return {**plain, "baselines": list(self.baselines), "task": self.task_hash}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], task: dict[str, Any]) -> Job:
        return cls(**{**wire, "baselines": tuple(wire["baselines"]), "task": task})


def _check_names(what: str, names: Any, known: Any) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"unknown {what} {unknown[0]!r}; known: {', '.join(known)}")


class Kind(StrEnum):
    """JUDGED: there is a verdict. REFUSED: the task cannot be judged, whoever answers it. INFRA: machines failed, and
    nothing is known of the candidate. FOREIGN: a verdict by another version of the judge, to keep and not to use; the
    job goes on. RETRIED: a machine failed at it, and the job goes on elsewhere. PROFILED: what holds it back, or why
    that could not be found out.
    """

    JUDGED = "judged"
    REFUSED = "refused"
    INFRA = "infra"
    FOREIGN = "foreign"
    RETRIED = "retried"
    PROFILED = "profiled"

    @property
    def goes_on(self) -> bool:
        """Whether something else will come of the job."""
        return self in (Kind.FOREIGN, Kind.RETRIED)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a job. `verdict` and `profile` are the judge's own JSON; `reason` says why there is none to use.

    `device`: the one that the job asked for.
    """

    kind: Kind
    job: str
    candidate: str
    where: str
    judge: str
    verdict: dict[str, Any] | None = field(default=None, repr=False)
    reason: str = ""
    profile: dict[str, Any] | None = field(default=None, repr=False)
    device: str | None = None

    @classmethod
    def of(cls, job: Job, kind: Kind, *, where: str, judge: str, **what: Any) -> Result:
        return cls(
            kind=kind, job=job.name, candidate=job.candidate, device=job.device, where=where, judge=judge, **what
        )
