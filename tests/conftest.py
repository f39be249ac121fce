"""One judge for every test that needs one, and the corpus as test parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from kernelwright.judge import Judge, Limits
from kernelwright.tasks import Task
from tests.corpus import Specimen

LIMITS = Limits(load_s=30, call_s=5, build_s=30, total_s=120)


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    with Judge(limits=LIMITS) as judge:
        yield judge


@pytest.fixture(scope="module")
def task(request: pytest.FixtureRequest, judge: Judge) -> Iterator[Task]:
    """The task given as a parameter; what was prepared for it is forgotten when the next one's turn comes."""
    yield request.param
    judge.forget(request.param)


def over(candidates: list[Specimen]) -> Any:
    """Parametrises a test by `task` and `specimen`."""
    parameters = []
    for _, group in groupby(candidates, key=lambda specimen: specimen.task):
        kin = list(group)
        shared = kin[0].load_task()
        parameters += [pytest.param(shared, specimen, id=specimen.name) for specimen in kin]
    return pytest.mark.parametrize(("task", "specimen"), parameters, indirect=["task"], scope="module")


def _judges_for_real(item: Any) -> bool:
    folder = item.path.parent.name
    return folder in ("honest", "cli", "hostile", "mutants", "judge")


def pytest_runtest_protocol(item: Any, nextitem: Any) -> bool:
    """A second chance for tests that judge for real: they share the machine's cores with whatever else runs.

    Never for exploits: one that is accepted once has got through.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports) and _judges_for_real(item):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
