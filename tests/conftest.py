"""Judges and tasks that many tests share: starting one takes longer than most tests. The corpus as parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from kernelwright.judge import Judge, Limits
from kernelwright.tasks import Task
from tests.corpus import Specimen
from tests.postgres import Server, binaries

LIMITS = Limits(load_s=30, call_s=5, build_s=30, total_s=120)


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    with Judge(limits=LIMITS) as judge:
        yield judge


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server; tests that ask for it bear the mark `postgres`."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed: make fetch-postgres")
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed here: neither in PATH nor under /usr/lib/postgresql")
    server = Server(programs)
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture
def database(server: Server) -> str:
    """The address of a database of the test's own."""
    return server.fresh()


@pytest.fixture(scope="session")
def throwaway_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build cache that starts empty, so that equal texts compile once a run."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def open_judge(throwaway_cache: Path) -> Iterator[Judge]:
    """A judge with the usual limits that tells its seeds; tasks it has prepared serve the next test as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        judge = Judge(reveal_seeds=True)
    with judge:
        yield judge


@pytest.fixture(scope="session")
def task(request: pytest.FixtureRequest, judge: Judge) -> Iterator[Task]:
    """The task given as a parameter; what was prepared for it is forgotten when the next one's turn comes."""
    yield request.param
    judge.forget(request.param)


def over(candidates: list[Specimen]) -> Any:
    """Parametrises a test by `task` and `specimen`."""
    parameters = [pytest.param(one.load_task(), one, id=one.name) for one in candidates]
    return pytest.mark.parametrize(("task", "specimen"), parameters, indirect=["task"], scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Candidates of one task, exploits and honest ones, in a row: the task is prepared once for them all."""
    corpus = {item: item.callspec.params["specimen"].task for item in items if "specimen" in item.fixturenames}
    if corpus:
        first = next(index for index, item in enumerate(items) if item in corpus)
        others = [item for item in items if item not in corpus]
        items[:] = [*others[:first], *sorted(corpus, key=lambda item: corpus[item]), *others[first:]]


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
