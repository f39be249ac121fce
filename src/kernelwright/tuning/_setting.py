"""In what a time was measured: task, candidate, device, compiler, driver. Times of different settings never mix."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright.judge import machine, source_hash
from kernelwright.tasks import Task
from kernelwright.tuning._limits import limits_here

DRIVER = Path("/proc/driver/nvidia/version")
OF_THE_MACHINE = ("cpu", "cores", "gpu", "compiler", "triton", "kernel")


def setting_here(task: Task, source: str) -> dict[str, Any]:
    """On this machine."""
    facts: Mapping[str, Any] = machine()
    return {
        "task": task.hash,
        "candidate": source_hash(source),
        **{name: facts[name] for name in OF_THE_MACHINE},
        "driver": _driver(),
        "limits": limits_here(),
    }


def _driver() -> str:
    try:
        return DRIVER.read_text().splitlines()[0]
    except (OSError, IndexError):
        return "absent"
