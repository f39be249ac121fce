"""Which machine this is: what a number was measured on."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import kernelwright
from kernelwright import native


def describe() -> dict[str, Any]:
    return {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": here.name if (here := native.gpu()) else "absent",
        "driver": _driver(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "python": sys.version.split()[0],
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "triton": _version("triton"),
        "compiler": _compiler(),
        "kernelwright": kernelwright.__version__,
    }


def now() -> dict[str, Any]:
    """What is another in every verdict: how fast the cores that this process may use run at this moment."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    clocks = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    ours = [clocks[core] for core in sorted(os.sched_getaffinity(0)) if core < len(clocks)]
    return {"cpu_mhz": round(sum(ours) / len(ours))} if ours else {}


def _driver() -> str:
    """NVIDIA's, as its kernel module says."""
    try:
        words = Path("/proc/driver/nvidia/version").read_text().split()
    except OSError:
        return "absent"
    return next((word for word in words if word[:1].isdigit() and "." in word), "unknown")


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def _compiler() -> str:
    try:
        return native.toolchain().version
    except native.ToolchainError:
        return "absent"
