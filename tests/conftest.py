"""One judge for every test that needs one, and the corpus as test parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from kernelwright.judge import Judge
from kernelwright.tasks import Task
from tests.corpus import specimens


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


@pytest.fixture(scope="module")
def task(request: pytest.FixtureRequest, judge: Judge) -> Iterator[Task]:
    """The task given as a parameter; what was prepared for it is forgotten when the next one's turn comes."""
    yield request.param
    judge.forget(request.param)


def over(folder: Path) -> Any:
    """Parametrises a test by `task` and `specimen` over all candidates of a folder."""
    parameters = []
    for _, group in groupby(specimens(folder), key=lambda specimen: specimen.task):
        kin = list(group)
        shared = kin[0].load_task()
        parameters += [pytest.param(shared, specimen, id=specimen.name) for specimen in kin]
    return pytest.mark.parametrize(("task", "specimen"), parameters, indirect=["task"], scope="module")
