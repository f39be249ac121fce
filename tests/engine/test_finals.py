"""The end of a run: the best is measured once more, and what is reported is that measurement."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kernelwright.engine import Budget, Found, Means, Plan, optimize, resume
from kernelwright.fleet import Job
from kernelwright.store import FINAL, State, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Writer, kernel, speed_of
from tests.judge.texts import TASKS

BOTH = ("eager", "compile")


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture(autouse=True)
def _no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)


def played(store: Store, task: Task, courts: Courts) -> Found:
    """A run that finds two elites in two cells: 1.5 times as fast as eager, and 1.4 times."""
    texts = iter([kernel(1.5), kernel(1.4, team=True)])
    plan = Plan(backend="cpp", budget=Budget(evaluations=2), search="best-of-n", lanes=1, baselines=BOTH)
    return optimize(task, plan, Means(store=store, proposer=Writer(lambda *_: next(texts)), fleet=courts))


def only_at_the_end(factor: float, *, of: float):
    """Luck that a measurement at the end does not have any more."""
    return lambda job: factor if job.final and speed_of(job.source) == of else 1.0


def finals(courts: Courts) -> list[tuple[float, tuple[str, ...]]]:
    return [(speed_of(job.source), job.baselines) for job in courts.heard if job.final]


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "runs.db") as store:
        yield store


def test_the_winner_is_measured_once_more_against_all_baselines(store: Store, task: Task) -> None:
    courts = Courts(luck=only_at_the_end(0.98, of=1.5))
    found = played(store, task, courts)
    assert finals(courts) == [(1.5, BOTH)]
    assert {job.baselines for job in courts.heard if not job.final} == {("eager",)}
    assert found.winner is not None
    assert found.winner.verdict["speedup"].keys() == set(BOTH)
    assert math.exp(found.best.log_speedup) == pytest.approx(1.5 * 0.98)
    assert "1.5f" in found.source
    assert found.said == ()


def test_where_it_does_not_hold_the_next_is_measured_and_that_is_said(store: Store, task: Task) -> None:
    courts = Courts(luck=only_at_the_end(0.7, of=1.5))
    found = played(store, task, courts)
    assert [speed for speed, _ in finals(courts)] == [1.5, 1.4]
    assert math.exp(found.best.log_speedup) == pytest.approx(1.4)
    (sentence,) = found.said
    assert "1.50x eager in the search, has 1.05x when it is measured again" in sentence


def test_who_falls_behind_what_the_next_is_known_for_may_still_be_the_best(store: Store, task: Task) -> None:
    courts = Courts(luck=lambda job: 0.9 if job.final and speed_of(job.source) == 1.5 else 0.8 if job.final else 1.0)
    found = played(store, task, courts)
    assert [speed for speed, _ in finals(courts)] == [1.5, 1.4]
    assert math.exp(found.best.log_speedup) == pytest.approx(1.35)


def test_a_winner_that_is_wrong_on_other_inputs_is_none(store: Store, task: Task) -> None:
    found = played(store, task, Courts(luck=only_at_the_end(-1.0, of=1.5)))
    assert math.exp(found.best.log_speedup) == pytest.approx(1.4)
    assert "was not accepted when it was judged again: WRONG_VALUE" in found.said[0]


def test_where_nobody_holds_nothing_was_found(store: Store, task: Task) -> None:
    found = played(store, task, Courts(luck=lambda job: -1.0 if job.final else 1.0))
    assert (found.best, found.source, len(found.said)) == (None, None, 2)
    assert store.run(found.run).state is State.FAILED


def test_a_fault_of_the_machine_at_the_end_is_tried_again(store: Store, task: Task) -> None:
    class Coughing(Courts):
        """Fails at the first job of the end."""

        submitted = 0

        def submit(self, job: Job) -> None:
            self.submitted += job.final
            self._faults = int(self.submitted == 1)
            super().submit(job)

    courts = Coughing()
    assert played(store, task, courts).best is not None
    assert courts.submitted == 2


def test_a_run_that_was_over_is_not_measured_again(store: Store, task: Task) -> None:
    found = played(store, task, Courts())
    courts = Courts()
    again = resume(found.run, Means(store=store, proposer=Writer(lambda *_: ""), fleet=courts))
    assert courts.heard == []
    assert again.winner == found.winner
    assert [event.kind for event in store.events(found.run)].count(FINAL) == 1
