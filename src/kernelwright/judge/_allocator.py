"""The workers' allocator (worker/_allocator.c) as a library, compiled once and kept."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from kernelwright import native

TEXT = Path(__file__).parent / "worker" / "_allocator.c"


def library() -> Path | None:
    """The library to load before the C library; None where nothing here can compile it."""
    try:
        compiler = native.toolchain()
    except native.ToolchainError:
        return None
    key = hashlib.sha256(TEXT.read_bytes() + compiler.version.encode()).hexdigest()[:16]
    path = native.cache_dir() / f"allocator-{key}.so"
    if not path.exists():
        _compile(str(compiler.path), path)
    return path if path.exists() else None


def _compile(compiler: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    command = [compiler, "-x", "c", "-O2", "-shared", "-fPIC", str(TEXT), "-o", str(fresh)]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        os.replace(fresh, path)
