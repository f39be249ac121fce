"""Finds the C++ compiler and says which processor its code is for. Compiles nothing."""

import functools
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kernelwright.native._errors import ToolchainError

VARIABLE = "KERNELWRIGHT_CXX"
COMPILERS = ("g++", "c++", "clang++")
INSTALL = {
    "apt-get": "apt-get install g++",
    "dnf": "dnf install gcc-c++",
    "apk": "apk add g++",
    "pacman": "pacman -S gcc",
    "zypper": "zypper install gcc-c++",
}
# What `-march=native` reads, under the names x86 and ARM kernels print.
CPU_FIELDS = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part")


@dataclass(frozen=True)
class Toolchain:
    """A compiler on this machine: its path and the first line it prints about its version."""

    path: Path
    version: str


def toolchain() -> Toolchain:
    """The C++ compiler: `$KERNELWRIGHT_CXX` if set, else g++, c++ or clang++ from PATH."""
    return _probe(os.environ.get(VARIABLE) or None, os.environ.get("PATH"))


@functools.cache
def _probe(chosen: str | None, search_path: str | None) -> Toolchain:
    names = (chosen,) if chosen else COMPILERS
    found = next(filter(None, (shutil.which(name, path=search_path) for name in names)), None)
    if found is None:
        raise _missing(chosen)
    return Toolchain(Path(found), _version(found))


def _version(compiler: str) -> str:
    try:
        printed = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=30, check=True)
        return printed.stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as fault:
        headline = f"{compiler} does not answer --version; set {VARIABLE} to a C++ compiler that does"
        raise ToolchainError(headline, str(fault)) from fault


def _missing(chosen: str | None) -> ToolchainError:
    if chosen:
        return ToolchainError(f"{VARIABLE} is {chosen!r}, and no such program exists; correct it or unset it")
    return ToolchainError(f"no C++ compiler found; run `{install_command()}`, or set {VARIABLE} to one")


def install_command() -> str:
    """The command that installs a C++ compiler with this machine's package manager."""
    return next((command for tool, command in INSTALL.items() if shutil.which(tool)), INSTALL["apt-get"])


@functools.cache
def cpu_identity() -> str:
    """A text that differs between processors for which `-march=native` gives different code."""
    try:
        first_core = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return platform.machine()
    fields = (line for line in first_core.splitlines() if line.split(":")[0].strip() in CPU_FIELDS)
    return "\n".join((platform.machine(), *fields))
