"""NVIDIA's programs that look at kernels: where they are, if they are."""

from __future__ import annotations

import shutil

from kernelwright import native


def installed(name: str) -> str | None:
    """The program of this name: from PATH, or beside the CUDA compiler."""
    folder = native.toolkit_folder()
    beside = shutil.which(name, path=str(folder / "bin")) if folder else None
    return shutil.which(name) or beside
