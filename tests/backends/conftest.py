"""These tests never touch the user's cache or the user's choice of compiler."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _cache_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    for choice in ("KERNELWRIGHT_CXX", "KERNELWRIGHT_NVCC", "KERNELWRIGHT_CUDA_ARCH"):
        monkeypatch.delenv(choice, raising=False)
