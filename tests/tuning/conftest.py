"""The judge and the build cache that these tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge
from kernelwright.tasks import Task, load_task
from tests.judge.texts import relu_folder


@pytest.fixture(scope="module", autouse=True)
def _cache_here(throwaway_cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        yield


@pytest.fixture(scope="module")
def small_judge(_cache_here: None, open_judge: Judge) -> Judge:
    return open_judge


@pytest.fixture(scope="session")
def relu_task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(relu_folder(tmp_path_factory.mktemp("tasks")))
