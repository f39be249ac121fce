"""Finds the CUDA compiler and says which GPU its code is for. Compiles nothing."""

import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from kernelwright.native._errors import ToolchainError
from kernelwright.native._gpu import gpu
from kernelwright.native._toolchain import Toolchain

VARIABLE = "KERNELWRIGHT_NVCC"
ARCHITECTURE_VARIABLE = "KERNELWRIGHT_CUDA_ARCH"
# Compiled for where there is no GPU to ask: Hopper.
DEFAULT_ARCHITECTURE = "sm_90"
USUAL_FOLDER = Path("/usr/local/cuda/bin")
INSTALL = "apt-get install nvidia-cuda-toolkit"
HIDING = "--device-entity-has-hidden-visibility"
_NAME = re.compile(r"sm_\d+")


def nvcc() -> Toolchain:
    """The CUDA compiler: `$KERNELWRIGHT_NVCC` if set, else nvcc from PATH."""
    return _probe(os.environ.get(VARIABLE) or None, os.environ.get("PATH"))


@functools.cache
def _probe(chosen: str | None, search_path: str | None) -> Toolchain:
    found = shutil.which(chosen or "nvcc", path=search_path)
    if found is None:
        raise _missing(chosen)
    # The release stands in the line before the last: "Cuda compilation tools, release 13.0, V13.0.88".
    release = next((line for line in _ask(found, "--version") if "release" in line), "")
    if not release:
        raise ToolchainError(f"{found} does not answer --version like nvcc; set {VARIABLE} to one that does")
    return Toolchain(Path(found), f"nvcc, {release.partition(', ')[2]}")


def has_nvcc() -> bool:
    """Whether there is one that answers."""
    try:
        return bool(nvcc())
    except ToolchainError:
        return False


def _ask(compiler: str, question: str) -> list[str]:
    try:
        asked = subprocess.run([compiler, question], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as fault:
        headline = f"{compiler} does not answer {question}; set {VARIABLE} to an nvcc that does"
        raise ToolchainError(headline, str(fault)) from fault
    return asked.stdout.splitlines()


def _missing(chosen: str | None) -> ToolchainError:
    if chosen:
        return ToolchainError(f"{VARIABLE} is {chosen!r}, and no such program exists; correct it or unset it")
    return ToolchainError(f"no CUDA compiler found; run `{nvcc_fix()}`, or set {VARIABLE} to nvcc")


def nvcc_fix() -> str:
    """The command that would make nvcc, or the one asked for, be found."""
    if os.environ.get(VARIABLE):
        return f"unset {VARIABLE}"
    return f"export PATH={USUAL_FOLDER}:$PATH" if (USUAL_FOLDER / "nvcc").exists() else INSTALL


def nvcc_settings() -> dict[str, str]:
    """Environment variables with which a process that sees neither the GPU nor ours compiles as this one would."""
    chosen = os.environ.get(VARIABLE)
    return {ARCHITECTURE_VARIABLE: chosen_architecture()} | ({VARIABLE: chosen} if chosen else {})


def toolkit_folder() -> Path | None:
    """Where nvcc's headers, libraries and helpers lie, if it is a toolkit's folder and nothing more."""
    if not has_nvcc():
        return None
    folders = (nvcc().path.resolve().parents[1], _said_folder(str(nvcc().path)))
    return next((folder for folder in folders if folder and _is_toolkit(folder)), None)


def _is_toolkit(folder: Path) -> bool:
    return (folder / "nvvm").is_dir() and (folder / "bin").is_dir()


@functools.cache
def _said_folder(compiler: str) -> Path | None:
    """What nvcc itself takes for its folder, where the program found is only a way to it."""
    asked = subprocess.run(
        [compiler, "--dryrun", "-c", "x.cu"], capture_output=True, text=True, timeout=30, check=False
    )
    said = re.search(r"^#\$ TOP=(.+)$", asked.stderr, re.MULTILINE)
    return Path(said[1]).resolve() if said else None


def toolkit_flags() -> tuple[list[str], list[str]]:
    """How other compilers find the toolkit's headers and libraries: the -I and the -L flags that nvcc itself uses."""
    said = _dry_run(str(nvcc().path))
    return shlex.split(said.get("INCLUDES", "")), shlex.split(said.get("LIBRARIES", ""))


@functools.cache
def _dry_run(compiler: str) -> dict[str, str]:
    """The variables that nvcc would set before it starts anything."""
    asked = subprocess.run(
        [compiler, "--dryrun", "-c", "kernel.cu"], capture_output=True, text=True, timeout=30, check=False
    )
    parts = [line.removeprefix("#$ ").partition("=") for line in asked.stderr.splitlines()]
    return {name: value for name, _, value in parts}


def exporting_kernels() -> tuple[str, ...]:
    """The flag that lets a library export its kernels: from CUDA 13 on they are hidden unless told otherwise."""
    return _exporting_kernels(str(nvcc().path))


@functools.cache
def _exporting_kernels(compiler: str) -> tuple[str, ...]:
    known = any(HIDING in line for line in _ask(compiler, "--help"))
    return (f"{HIDING}=false",) if known else ()


# *** architectures ***


def chosen_architecture() -> str:
    """`$KERNELWRIGHT_CUDA_ARCH` if set, else that of the GPU in this machine, else Hopper. Not checked yet."""
    chosen, here = os.environ.get(ARCHITECTURE_VARIABLE), gpu()
    if chosen:
        return chosen
    return "sm_{}{}".format(*here.capability) if here else DEFAULT_ARCHITECTURE


def architecture() -> str:
    """The architecture to compile for; raises ToolchainError where this nvcc does not know it."""
    chosen = chosen_architecture()
    if chosen.rstrip("af") in known_architectures():
        return chosen
    where = f"{ARCHITECTURE_VARIABLE} is {chosen!r}: " if os.environ.get(ARCHITECTURE_VARIABLE) else ""
    raise ToolchainError(f"{where}nvcc cannot compile for {chosen!r}; it knows {', '.join(known_architectures())}")


def known_architectures() -> tuple[str, ...]:
    """Those that this nvcc compiles for."""
    return _architectures(str(nvcc().path))


@functools.cache
def _architectures(compiler: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in _ask(compiler, "--list-gpu-code") if _NAME.fullmatch(line.strip()))
