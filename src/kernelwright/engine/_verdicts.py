"""What a verdict means to a search: an entry for the archive, or a failure and how near it came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernelwright.archive import Cell, Entry
from kernelwright.backends import Code
from kernelwright.judge import ORIGINAL, Status
from kernelwright.tasks import Task

# How far a rejected kernel came, from 0 (no code) to 1 (all but right). Who cheats is not repaired.
PROMISE = {
    Status.COMPILE_ERROR: 0.4,
    Status.LOAD_ERROR: 0.3,
    Status.TIMEOUT: 0.2,
    Status.CRASH: 0.5,
    Status.OOM: 0.4,
    Status.WRONG_STRUCTURE: 0.5,
    Status.WRONG_VALUE: 0.7,
    Status.NONDETERMINISTIC: 0.6,
    Status.STATEFUL: 0.6,
    Status.INPUT_MUTATED: 0.7,
    Status.LIBRARY_ONLY: 0.3,
}
EAGER = "eager"


def baseline_of(task: Task) -> str:
    """What a kernel's worth is told over."""
    return EAGER if task.project is None else ORIGINAL


def entry_of(candidate: str, cell: Cell, verdict: Mapping[str, Any]) -> Entry | None:
    """The kernel as the archive knows it; None where it was rejected or not timed."""
    timed = verdict["speedup"] if verdict["accepted"] else {}
    found = timed.get(EAGER) or timed.get(ORIGINAL)
    if not found:
        return None
    return Entry(candidate, cell, *(math.log(found[name]) for name in ("ratio", "low", "high")))


def code_of(verdict: Mapping[str, Any] | None) -> Code | None:
    """What the judge counted in the compiled code; None where it did not look, as in older runs."""
    return verdict["evidence"].get("code") if verdict else None


def promise_of(verdict: Mapping[str, Any]) -> float | None:
    return PROMISE.get(Status(verdict["status"]))


def roof_share(verdict: Mapping[str, Any]) -> float | None:
    """The share of what the hardware can do at best, over all cases by their weight."""
    floors, timings = verdict["evidence"].get("floor_ms"), verdict["evidence"].get("timing")
    if not floors or not timings:
        return None
    weight = sum(timing["weight"] for timing in timings)
    floor = sum(timing["weight"] * floors[timing["case"]] for timing in timings) / weight
    return float(floor / verdict["time_ms"]["candidate"])
