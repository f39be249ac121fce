"""One judge a module, and a build cache that starts empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge


@pytest.fixture(scope="session")
def judge_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judge-cache")


@pytest.fixture(scope="module", autouse=True)
def _cache_here(judge_cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(judge_cache))
        yield


@pytest.fixture(scope="module")
def small_judge(_cache_here: None) -> Iterator[Judge]:
    with Judge() as judge:
        yield judge
