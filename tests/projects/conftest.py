"""One judge for all of these tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Verdict
from kernelwright.tasks import Task, load_task
from tests.projects.made_up import project

Judged = Callable[..., Verdict]


@pytest.fixture(scope="module", autouse=True)
def _cache_here(throwaway_cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        yield


@pytest.fixture(scope="module")
def judge(_cache_here: None, open_judge: Judge) -> Judge:
    return open_judge


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(project(tmp_path_factory.mktemp("project") / "sums"))


@pytest.fixture
def judged(judge: Judge, sums: Task) -> Judged:
    """The verdict on a candidate, for the sums unless another task is given."""

    def run(source: str, task: Task = sums, *, timed: bool = False) -> Verdict:
        return judge.judge(task, source, timed=timed)

    return run
