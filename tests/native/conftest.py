"""Builds of these tests go to one throw-away cache, so that equal texts compile once a run."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _cache_here(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(shared_cache))
    monkeypatch.delenv("KERNELWRIGHT_CXX", raising=False)
