"""The verdict: one status, why, how fast, how sure, and everything needed to come to it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kernelwright.judge._status import ACCEPTED, Status

FORMAT = 1


def source_hash(source: str) -> str:
    """What a candidate is known by."""
    return hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the judge says of one candidate. Numbers are there only where they were measured.

    `checked` is False where this machine could compile it and nothing more; then it is never accepted.
    """

    status: Status
    stage: str
    message: str
    task: str
    candidate: str
    checked: bool = True
    time_ms: dict[str, float] = field(default_factory=dict)
    speedup: dict[str, dict[str, float]] = field(default_factory=dict)
    coverage: float | None = None
    specialised: bool | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    evidence: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.checked and self.status in ACCEPTED

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "status": str(self.status),
            "accepted": self.accepted,
            "checked": self.checked,
            "stage": self.stage,
            "message": self.message,
            "time_ms": self.time_ms,
            "speedup": self.speedup,
            "coverage": self.coverage,
            "specialised": self.specialised,
            "seconds": self.seconds,
            "evidence": self.evidence,
            "machine": self.machine,
            "task": self.task,
            "candidate": self.candidate,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Verdict:
        """What `to_json` told, from whoever kept it."""
        return cls(**{one.name: told[one.name] for one in fields(cls)} | {"status": Status(told["status"])})
