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

SYCL_INSTALL = "pip install 'kernelwright[sycl]'"
HERE = Path(__file__).parent
COMPILER, LAUNCHER = HERE / "_sycl_compiler.cpp", HERE / "_sycl_launcher.cpp"
DRIVER = "lib/libintelocl.so"
NEEDED = (
    "include/sycl/sycl.hpp",
    "lib/libsycl.so",
    "lib/libsycl-jit.so",
    "lib/libOpenCL.so.1",
    DRIVER,
)


@dataclass(frozen=True)
class SyclPackages:
    """The packages installed in a Python environment: `root` holds their `include` and `lib`."""

    root: Path

    @property
    def version(self) -> str:
        """The names and sizes of what decides the machine code; names carry version numbers."""
        files = [(self.root / name).resolve() for name in NEEDED[1:]]
        return ", ".join(f"{file.name} {file.stat().st_size}" for file in files)


def sycl_packages() -> SyclPackages:
    """The packages in this Python environment; raises ToolchainError where one is missing."""
    root = Path(sys.prefix)
    missing = next((name for name in NEEDED if not (root / name).exists()), None)
    if missing:
        raise ToolchainError(f"SYCL is not installed ({root / missing} is missing); run `{SYCL_INSTALL}`")
    return SyclPackages(root)


@dataclass(frozen=True)
class SyclTools:
    """Our host programs for one installation. `key` names it: other texts or packages have another."""

    key: str
    compiler: Path
    launcher: Path


def tools_dir() -> Path:
    """Where our compiled host programs lie."""
    return cache_dir() / "tools"


def sycl_tools() -> SyclTools:
    """The host programs, compiled now if they are not there yet."""
    return _tools(sycl_packages(), tools_dir())


@functools.cache
def _tools(packages: SyclPackages, folder: Path) -> SyclTools:
    parts = (COMPILER.read_text(), LAUNCHER.read_text(), str(packages.root), packages.version)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    tools = SyclTools(key, folder / f"sycl-compiler-{key}", folder / f"sycl-launcher-{key}.so")
    driver, libraries = f'-DDRIVER="{packages.root / DRIVER}"', packages.root / "lib"
    _make(LAUNCHER, tools.launcher, [driver, "-shared", "-fPIC", "-ldl"])
    # The old kind of search path also serves the libraries that libraries need.
    linking = [f"-L{libraries}", f"-Wl,--disable-new-dtags,-rpath,{libraries}", "-lsycl", "-l:libOpenCL.so.1"]
    _make(COMPILER, tools.compiler, [driver, f"-I{packages.root / 'include'}", "-w", *linking])
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
