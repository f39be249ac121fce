"""What the profiler says of a parent: asked for once, shown in the prompt, and it sways the choice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kernelwright.archive import BOTTLENECKS
from kernelwright.engine import Budget, Means, Plan, optimize, resume
from kernelwright.engine._profiles import WORD_OF, WORDS
from kernelwright.fleet import Kind
from kernelwright.judge import _bottleneck
from kernelwright.judge.device import _bottleneck as _device_bottleneck
from kernelwright.propose import Request
from kernelwright.store import Asked, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Frail, Left, Writer, climbing, kernel
from tests.judge.texts import TASKS

EVALUATIONS = 24


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture(autouse=True)
def _no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)


def levelling(request: Request, rng: random.Random) -> str:
    """Soon as fast as it gets, so that the best is built on more than once or twice."""
    return "no edits" if request.kind == "rewrite" else kernel(round(rng.uniform(1.0, 1.4), 4), request.id)


def asked(path: Path, task: Task, courts: Courts, writes: Any = climbing, **more: Any) -> list[Asked]:
    """Every request of a run."""
    plan = Plan(backend="cpp", budget=Budget(evaluations=EVALUATIONS), **{"lanes": 1, **more})
    with Store(path) as store:
        found = optimize(task, plan, Means(store=store, proposer=Writer(writes), fleet=courts))
        return list(store.requests(found.run))


def directions(requests: list[Asked]) -> Counter[str]:
    chosen = [one.direction for one in requests if one.kind == "improve" and one.direction]
    return Counter(str(choice["direction"]) for choice in chosen)


def test_parents_are_profiled_once_each_and_nobody_else_is(tmp_path: Path, task: Task) -> None:
    courts = Courts()
    requests = asked(tmp_path / "runs.db", task, courts)
    parents = {one.parent for one in requests if one.kind == "improve"}
    profiled = [job.candidate for job in courts.profiled]
    assert len(profiled) == len(set(profiled))
    assert set(profiled) <= parents
    assert len(parents - set(profiled)) <= 1  # the run ended before the last was


def test_what_holds_a_parent_back_stands_in_the_prompt(tmp_path: Path, task: Task) -> None:
    requests = asked(tmp_path / "runs.db", task, Courts())
    seen: set[str] = set()
    for one in requests:
        if one.kind == "improve":
            assert ("Bottleneck: serial." in one.prompt) == (one.parent in seen)
            seen.add(str(one.parent))
    assert any("Bottleneck: serial." in one.prompt for one in requests)


def test_what_was_measured_of_the_machine_stands_in_every_later_prompt(tmp_path: Path, task: Task) -> None:
    told = ["512 bits" in one.prompt for one in asked(tmp_path / "runs.db", task, Courts()) if one.kind != "rewrite"]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (False, True)


def test_it_sways_the_choice_and_without_it_nothing_does(tmp_path: Path, task: Task) -> None:
    def steps(name: str, bottleneck: str, **more: Any) -> Counter[str]:
        courts = Courts(bottleneck=lambda job: bottleneck)
        return directions(asked(tmp_path / f"{name}.db", task, courts, levelling, **more))

    assert steps("memory", "memory-far-from-roof") != steps("serial", "serial")
    off = {"without": ("profile",)}
    assert steps("off memory", "memory-far-from-roof", **off) == steps("off serial", "serial", **off)


def test_without_it_nobody_is_profiled(tmp_path: Path, task: Task) -> None:
    courts = Courts()
    requests = asked(tmp_path / "runs.db", task, courts, without=("profile",))
    assert courts.profiled == []
    assert not any("Bottleneck" in one.prompt for one in requests)


def test_a_profile_that_fails_is_not_asked_for_again_and_stops_nobody(tmp_path: Path, task: Task) -> None:
    class Blind(Courts):
        def _result(self, job, kind, **what):
            if kind is Kind.PROFILED:
                return super()._result(job, Kind.INFRA, reason="no such thing here")
            return super()._result(job, kind, **what)

    courts = Blind()
    requests = asked(tmp_path / "runs.db", task, courts)
    assert not any("Bottleneck" in one.prompt for one in requests)
    assert len(courts.profiled) == len({job.candidate for job in courts.profiled}) > 0


def test_a_run_that_is_left_while_somebody_is_profiled_goes_on_alike(tmp_path: Path, task: Task) -> None:
    whole = [one.prompt for one in asked(tmp_path / "whole.db", task, Courts())]
    plan = Plan(backend="cpp", budget=Budget(evaluations=EVALUATIONS), lanes=1)
    with Store(tmp_path / "left.db") as store, pytest.raises(Left):
        optimize(task, plan, Means(store=store, proposer=Writer(climbing), fleet=Frail(2)))
    with Store(tmp_path / "left.db") as store:
        run = next(store.runs()).id
        for life in (1, 2, 3, 1, 1, 4):
            with pytest.raises(Left):
                resume(run, Means(store=store, proposer=Writer(climbing), fleet=Frail(life)))
        resume(run, Means(store=store, proposer=Writer(climbing), fleet=Courts()))
        assert [one.prompt for one in store.requests(run)] == whole


def test_every_word_is_one_that_the_archive_knows_and_every_name_one_that_the_profiler_says() -> None:
    assert set(WORDS) == set(BOTTLENECKS)
    said = "".join(Path(str(module.__file__)).read_text() for module in (_bottleneck, _device_bottleneck))
    suffixes = ("-near-roof", "-far-from-roof")
    for name in WORD_OF:
        assert f'"{name}"' in said or any(name.endswith(suffix) and suffix in said for suffix in suffixes), name
