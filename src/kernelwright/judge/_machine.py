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
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "python": sys.version.split()[0],
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "triton": _version("triton"),
        "compiler": _compiler(),
        "kernelwright": kernelwright.__version__,
    }


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
