"""Where a kernel stands once it is judged: by its text, less what the judge did not find in its code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from kernelwright.archive import Archive
from kernelwright.engine import Budget, Means, Plan, Recorded, archive_of, optimize, recorded_replies, replay
from kernelwright.engine._candidates import cell_of
from kernelwright.engine._past import Past
from kernelwright.fleet import Kind, Result
from kernelwright.propose import Request
from kernelwright.store import Records, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Writer, kernel
from tests.judge.texts import TASKS

ALONE, TEAM = (0, 0, 0), (0, 0, 1)


@pytest.fixture
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture(autouse=True)
def _no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)


class Looking(Courts):
    """A fleet whose judge finds so many calls to a runtime in every kernel; None: it does not look."""

    def __init__(self, threading: int | None) -> None:
        super().__init__()
        self._code = {} if threading is None else {"code": {"cpp": {"threading": threading, "locked": 0}}}

    def finished(self, timeout: float) -> Iterable[Result]:
        for result in super().finished(timeout):
            if result.kind is Kind.JUDGED and result.verdict is not None:
                result.verdict["evidence"] |= self._code
            yield result


def teams(request: Request, rng: object) -> str:
    return kernel(1.0 + len(request.id) / 10, request.id, team=True)


def searched(path: Path, task: Task, threading: int | None) -> tuple[str, Archive]:
    plan = Plan(backend="cpp", budget=Budget(evaluations=5), lanes=1)
    with Store(path) as store:
        found = optimize(task, plan, Means(store=store, proposer=Writer(teams), fleet=Looking(threading)))
        return found.run, archive_of(store, found.run)


@pytest.mark.parametrize(("threading", "cell"), [(None, TEAM), (3, TEAM), (0, ALONE)])
def test_a_kernel_is_placed_by_what_the_judge_found_in_its_code(threading, cell, tmp_path: Path, task: Task) -> None:
    run, archive = searched(tmp_path / "run.db", task, threading)
    written = {entry.cell for entry in archive.elites.values()} - {ALONE}
    assert written == {cell} - {ALONE}
    with Store(tmp_path / "run.db") as store:
        past = Past(store, run, task)
        for entry in archive.elites.values():
            assert past.recall(entry.candidate).cell == entry.cell


@pytest.mark.parametrize("threading", [None, 0])
def test_a_run_is_replayed_to_the_same_places(threading, tmp_path: Path, task: Task) -> None:
    run, archive = searched(tmp_path / "run.db", task, threading)
    with Records(tmp_path / "run.db") as records, Store(tmp_path / "copy.db") as store:
        means = Means(store=store, proposer=recorded_replies(records, run), fleet=Recorded(records, run))
        assert archive_of(store, replay(records, run, means).run).to_json() == archive.to_json()


def test_a_verdict_of_an_older_judge_leaves_a_kernel_where_its_text_says(task: Task) -> None:
    source = kernel(1.0, team=True).removeprefix("```python\n").removesuffix("```")
    assert cell_of(task, source) == cell_of(task, source, {"evidence": {}}) == TEAM
    assert cell_of(task, source, {"evidence": {"code": {"cpp": {"threading": 0}}}}) == ALONE
