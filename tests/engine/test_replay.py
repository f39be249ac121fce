"""A recorded run played again: without the model, without the judge, to the same end."""

from __future__ import annotations

import random
import time
import zlib
from contextlib import nullcontext
from pathlib import Path

import pytest

from kernelwright.engine import (
    Budget,
    Means,
    Plan,
    Recorded,
    RunError,
    archive_of,
    optimize,
    recorded_replies,
    replay,
    resume,
)
from kernelwright.engine._docket import Docket
from kernelwright.engine._listening import Rehearsed, _each_once
from kernelwright.engine._settings import Settings
from kernelwright.fleet import Job, Kind, Result
from kernelwright.judge import source_hash
from kernelwright.propose import Reply, Request
from kernelwright.store import Records, Store
from kernelwright.tasks import Task, load_task
from tests.engine.test_optimize import edited
from tests.engine.world import Courts, Left, Writer
from tests.judge.texts import RELU, TASKS


@pytest.fixture
def task() -> Task:
    return load_task(TASKS / "relu.py")


class Unsteady:
    """Answers and verdicts that come when they like."""

    def __init__(self, seed: int, life: int = 1_000_000) -> None:
        """`life`: after so many verdicts the run is left."""
        self._random, self._life = random.Random(seed), life
        self._writer = Writer(edited)
        self._courts = Courts(luck=lambda job: 1 + 0.02 * (zlib.crc32(job.name.encode()) % 7 - 3))
        self._kept: list[Result] = []

    def propose(self, request: Request) -> Reply:
        time.sleep(self._random.choice([0.0, 0.001, 0.01]))
        return self._writer.propose(request)

    def submit(self, job: Job) -> None:
        self._courts.submit(job)

    def finished(self, timeout: float) -> list[Result]:
        """Any of those that are there, in any order."""
        self._kept += self._courts.finished(timeout)
        self._random.shuffle(self._kept)
        number = self._random.randint(0, len(self._kept))
        told, self._kept = self._kept[:number], self._kept[number:]
        self._life -= len(told)
        if self._life < 0:
            raise Left
        return told

    def close(self) -> None: ...


@pytest.fixture(params=[1, 2, 5])
def recorded(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A run of forty candidates in which measurements differ, so that contests are held."""
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    path = tmp_path / "recorded.db"
    plan = Plan(backend="cpp", budget=Budget(evaluations=40), lanes=request.param)
    world = Unsteady(request.param)
    with Store(path) as store:
        optimize(task, plan, Means(store=store, proposer=world, fleet=world))
    return path


def played(recorded: Path, copy: Path) -> tuple[str, str]:
    with Records(recorded) as records, Store(copy) as store:
        run = next(records.runs()).id
        fleet = Recorded(records, run)
        found = replay(records, run, Means(store=store, proposer=recorded_replies(records, run), fleet=fleet))
        return run, found.run


def test_a_replay_asks_the_same_and_comes_to_the_same_end(recorded: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    before, after = played(recorded, copy)
    with Records(recorded) as one, Records(copy) as two:
        assert archive_of(two, after).to_json() == archive_of(one, before).to_json()
        assert [asked.prompt for asked in two.requests(after)] == [asked.prompt for asked in one.requests(before)]
        assert two.run(after).reason == one.run(before).reason
        assert any(move.kind == "confirmed" for move in two.moves(after)), "no contest was held: too easy a test"


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_was_left_with_requests_under_way_is_replayed_with_its_advice(
    seed: int, tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Advice is rewritten after as many kernels whether the run was left meanwhile or not."""
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    recorded, copy = tmp_path / "recorded.db", tmp_path / "copy.db"
    plan = Plan(backend="cpp", budget=Budget(evaluations=80), lanes=8)
    world = Unsteady(seed, life=25)
    with Store(recorded) as store, pytest.raises(Left):
        optimize(task, plan, Means(store=store, proposer=world, fleet=world))
    for life in (30, 1_000_000):
        world = Unsteady(seed + life, life)
        with Store(recorded) as store, pytest.raises(Left) if life == 30 else nullcontext():
            resume(next(store.runs()).id, Means(store=store, proposer=world, fleet=world))
    before, after = played(recorded, copy)
    with Records(recorded) as one, Records(copy) as two:
        asked = [(request.kind, request.prompt) for request in one.requests(before)]
        assert [(request.kind, request.prompt) for request in two.requests(after)] == asked
        assert archive_of(two, after).to_json() == archive_of(one, before).to_json()
        assert [kind for kind, _ in asked].count("rewrite") > 2, "too easy a test"


def test_a_kernel_that_was_not_judged_then_is_refused_now(recorded: Path, task: Task) -> None:
    with Records(recorded) as records:
        fleet = Recorded(records, next(records.runs()).id)
    fleet.submit(Job(candidate=source_hash(RELU), source=RELU, task=task.to_wire()))
    (result,) = fleet.finished(0.0)
    assert result.kind is Kind.REFUSED
    assert "was not judged in the recorded run" in result.reason


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"asked": 3, "request": "3"}, "request 3 of the recorded run is not asked"),
        (
            {"asked": 2, "candidate": "f" * 64, "profile": False},
            "candidate ffffffffff of the recorded run is not judged",
        ),
    ],
)
def test_a_replay_that_takes_another_course_says_where(told, sentence, task: Task) -> None:
    """And does not wait for ever for what will not come."""
    settings = Settings(backend="cpp", budget=Budget(evaluations=1))
    docket = Docket(Courts(), task, settings)
    with pytest.raises(RunError, match=sentence):
        list(Rehearsed([told], [], docket, Courts()).hear(0.05, asked=2))


def test_an_answer_that_was_heard_twice_counts_the_second_time() -> None:
    """The run was left right after the first."""
    told = [{"asked": 1, "request": "1"}, {"asked": 2, "request": "2"}, {"asked": 2, "request": "1"}]
    assert [(one["request"], one["asked"]) for one in _each_once(told)] == [("2", 2), ("1", 2)]
