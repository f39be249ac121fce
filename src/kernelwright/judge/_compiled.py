"""The judge's own compiled code: the workers' allocators and the ruler. Compiled once a machine and kept."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from pathlib import Path

from kernelwright import native

HERE = Path(__file__).parent
ALLOCATOR, DEVICE, RULER = HERE / "worker" / "_allocator.c", HERE / "worker" / "_device.cpp", HERE / "_ruler.cpp"
OPTIONS = {".c": ("-x", "c", "-O2"), ".cpp": ("-std=c++17", "-O3", "-march=native", "-fopenmp-simd")}


def library(text: Path) -> Path | None:
    """A text of the judge's as a shared library; None where nothing here can compile it."""
    try:
        compiler = native.toolchain()
    except native.ToolchainError:
        return None
    options = OPTIONS[text.suffix]
    what = (text.read_bytes(), compiler.version.encode(), native.cpu_identity().encode(), " ".join(options).encode())
    key = hashlib.sha256(b"\0".join(what)).hexdigest()[:16]
    path = native.cache_dir() / f"{text.stem.lstrip('_')}-{key}.so"
    if not path.exists():
        _compile([str(compiler.path), *options, "-shared", "-fPIC", str(text), "-ldl"], path)
    return path if path.exists() else None


def _compile(command: list[str], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    if subprocess.run([*command, "-o", str(fresh)], capture_output=True, check=False).returncode == 0:
        os.replace(fresh, path)
