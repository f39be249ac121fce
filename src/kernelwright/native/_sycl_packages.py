"""Finds the SYCL packages and makes our two host programs with them, once: the compiler and the launcher."""

import functools
import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kernelwright.native._build_cache import cache_dir
from kernelwright.native._errors import CompileError, ToolchainError
from kernelwright.native._toolchain import toolchain

SYCL_VARIABLE, TOOLS = "KERNELWRIGHT_SYCL", "KERNELWRIGHT_TOOLS"
# The variables that name folders which a process must see to compile and run SYCL.
FOLDERS = (SYCL_VARIABLE, TOOLS)
SYCL_INSTALL = "pip install 'kernelwright[sycl]'"
HERE = Path(__file__).parent
COMPILER, LAUNCHER = HERE / "_sycl_compiler.cpp", HERE / "_sycl_launcher.cpp"
NEEDED = (
    "include/sycl/sycl.hpp",
    "lib/libsycl.so",
    "lib/libsycl-jit.so",
    "lib/libOpenCL.so.1",
    "lib/libintelocl.so",
)


@dataclass(frozen=True)
class SyclPackages:
    """An installation of the SYCL packages: the folder that holds their `include` and `lib`."""

    root: Path

    @property
    def libraries(self) -> Path:
        return self.root / "lib"

    @property
    def loader(self) -> Path:
        """The library through which drivers are found."""
        return self.libraries / "libOpenCL.so.1"

    @property
    def driver(self) -> Path:
        """Intel's OpenCL driver for processors."""
        return self.libraries / "libintelocl.so"

    @property
    def version(self) -> str:
        """The names and sizes of what decides the machine code."""
        files = [(self.root / name).resolve() for name in NEEDED[1:]]
        return ", ".join(f"{file.name} {file.stat().st_size}" for file in files)


def sycl_packages() -> SyclPackages:
    """The packages in `$KERNELWRIGHT_SYCL` if that is set, else in this Python environment."""
    chosen = os.environ.get(SYCL_VARIABLE)
    root = Path(chosen or sys.prefix)
    missing = [name for name in NEEDED if not (root / name).exists()]
    if not missing:
        return SyclPackages(root)
    if chosen:
        raise ToolchainError(f"{SYCL_VARIABLE} is {chosen!r}, where {missing[0]} is missing; correct it or unset it")
    raise ToolchainError(f"SYCL is not installed ({missing[0]} is missing); run `{SYCL_INSTALL}`")


def tools_dir() -> Path:
    """Where our compiled host programs lie. A process that cannot see the cache is told by `$KERNELWRIGHT_TOOLS`."""
    told = os.environ.get(TOOLS)
    return Path(told) if told else cache_dir() / "tools"


def folders() -> dict[str, str]:
    """The environment of a process that compiles or runs SYCL without seeing this one's."""
    tools_dir().mkdir(parents=True, exist_ok=True)
    chosen = os.environ.get(SYCL_VARIABLE)
    return {TOOLS: str(tools_dir())} | ({SYCL_VARIABLE: os.path.abspath(chosen)} if chosen else {})


@dataclass(frozen=True)
class SyclTools:
    """Our host programs for one installation. `key` names it: other texts or packages have another."""

    key: str
    compiler: Path
    launcher: Path


def sycl_tools() -> SyclTools:
    """The host programs, compiled now if they are not there yet."""
    return _tools(sycl_packages(), tools_dir())


@functools.cache
def _tools(packages: SyclPackages, folder: Path) -> SyclTools:
    parts = (COMPILER.read_text(), LAUNCHER.read_text(), packages.version)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    tools = SyclTools(key, folder / f"sycl-compiler-{key}", folder / f"sycl-launcher-{key}.so")
    _make(LAUNCHER, tools.launcher, ["-shared", "-fPIC", "-ldl"])
    include, libraries = f"-I{packages.root / 'include'}", packages.libraries
    _make(COMPILER, tools.compiler, [include, "-w", f"-L{libraries}", "-lsycl", f"-l:{packages.loader.name}"])
    return tools


def _make(text: Path, target: Path, options: list[str]) -> None:
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    command = [str(toolchain().path), "-std=c++17", "-O2", str(text), *options, "-o", str(fresh)]
    made = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if made.returncode:
        raise CompileError(f"cannot compile {text.name} against the SYCL packages", made.stdout + made.stderr)
    os.replace(fresh, target)
