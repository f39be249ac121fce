"""After the search the best kernels that declare parameters have them raced; what wins is a candidate like any."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from pathlib import Path

import pytest

from kernelwright.archive import Choice, choice_from_json
from kernelwright.engine import (
    Budget,
    Means,
    Plan,
    Recorded,
    TuningBudget,
    archive_of,
    optimize,
    recorded_replies,
    replay,
    resume,
)
from kernelwright.engine._listening import CAME
from kernelwright.engine._stop import StopRules
from kernelwright.propose import Request
from kernelwright.store import Records, Store
from kernelwright.tasks import Task
from tests.engine.test_conductor import begin, conductor, store, task  # noqa: F401
from tests.engine.world import Courts, Frail, Left, Writer, kernel, speed_of, tunable

MODEST = TuningBudget(seconds=10.0, kernels=2, finalists=2)


def leaving_open(request: Request, rng: random.Random) -> str:
    """Kernels of two cells, most of them with a parameter that was not set to its best."""
    if request.kind == "rewrite":
        return "no edits"
    speed, team = round(rng.uniform(1.0, 1.4), 3), rng.random() < 0.5
    if rng.random() < 0.3:
        return kernel(speed, request.id, team=team)
    return tunable(speed, round(speed * 1.5, 3), round(speed / 2, 3), number=request.id, team=team)


def played(store: Store, task: Task, **parts):  # noqa: F811
    run = begin(store, task)
    parts = {"proposer": Writer(leaving_open), "tuning": MODEST, "budget": 8, **parts}
    found = conductor(store, task, run, **parts)
    return run, found, found.play()


def test_the_best_kernels_are_raced_and_the_winners_judged_in_full(store, task):  # noqa: F811
    courts = Courts()
    _, found, reason = played(store, task, fleet=courts)
    assert reason == "the budget of 8 evaluations is used up"
    assert 1 <= len(courts.raced) <= 2
    best = found.archive.best
    assert best is not None
    as_written = max(speed_of(job.source) for job in courts.raced)
    assert math.exp(best.log_speedup) == pytest.approx(1.5 * as_written, rel=1e-2)
    assert any(job.candidate == best.candidate and not job.race for job in courts.heard)


def test_the_winner_has_the_kernel_it_was_made_of_as_its_parent(store, task):  # noqa: F811
    courts = Courts()
    run, found, _ = played(store, task, fleet=courts)
    (birth,) = store.births(run, found.archive.best.candidate)
    came_of = choice_from_json(birth.direction)
    assert isinstance(came_of, Choice)
    assert birth.parent == came_of.parent == next(job.candidate for job in courts.raced)
    assert came_of.why.startswith("its parameters were raced: SPEED=")
    assert found.recall(found.archive.best.candidate).parent == birth.parent


def test_its_budget_is_its_own(store, task):  # noqa: F811
    courts = Courts()
    run, _, _ = played(store, task, fleet=courts)
    assert sum(job.race["seconds"] for job in courts.raced) == pytest.approx(MODEST.seconds)
    assert store.spent(run).evaluations > 8


def test_where_nothing_is_declared_nothing_is_raced(store, task):  # noqa: F811
    courts = Courts()
    proposer = Writer(lambda request, rng: kernel(round(rng.uniform(1, 2), 3), request.id))
    run, _, _ = played(store, task, fleet=courts, proposer=proposer)
    assert not courts.raced
    assert {event.kind for event in store.events(run)} & {"tuning", "race"} == set()


def test_a_declaration_that_makes_no_sense_is_passed_over(store, task):  # noqa: F811
    courts = Courts()
    proposer = Writer(lambda request, rng: tunable(1.5, 2.0, number=request.id).replace("// tune: 1.5f", "// tune: 9f"))
    _, found, _ = played(store, task, fleet=courts, proposer=proposer, budget=2)
    assert not courts.raced
    assert found.archive.best is not None


def test_without_tuning_there_is_no_such_phase(store, task):  # noqa: F811
    courts = Courts()
    played(store, task, fleet=courts, tuning=None)
    assert not courts.raced


class Lame(Courts):
    """Races end in nothing."""

    def finished(self, timeout):
        found = list(super().finished(timeout))
        return [self._result(self.raced[-1], one.kind, reason="no space") if one.race else one for one in found]


def test_a_race_that_came_to_nothing_leaves_the_search_as_it_was(store, task):  # noqa: F811
    run, found, _ = played(store, task, fleet=Lame())
    assert found.archive.best is not None
    assert next(event.data["race"] for event in store.events(run) if event.kind == "race") == {"absent": "no space"}


@pytest.mark.parametrize("life", range(8, 24, 2))
def test_left_at_any_moment_it_goes_on_as_if_it_had_not_been(store, task, life):  # noqa: F811
    """Also where the search has ended for a reason that what was found since would take back."""
    parts = {"rules": StopRules(plateau=4), "budget": 50, "profile": False}
    run = begin(store, task)
    proposer = Writer(leaving_open)
    try:
        conductor(store, task, run, fleet=Frail(life), proposer=proposer, tuning=MODEST, **parts).play()
    except Left:
        courts = Courts()
        conductor(store, task, run, fleet=courts, proposer=proposer, tuning=MODEST, **parts).play()
    whole, _, _ = played(store, task, **parts)
    assert [move.data for move in store.moves(run)] == [move.data for move in store.moves(whole)]
    races = [event.data["candidate"] for event in store.events(run) if event.kind == "race"]
    assert len(races) == len(set(races)) > 0


@pytest.fixture
def recorded(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    path = tmp_path / "recorded.db"
    plan = Plan(backend="cpp", budget=Budget(evaluations=12), lanes=3, tuning=MODEST)
    with Store(path) as kept:
        optimize(task, plan, Means(store=kept, proposer=Writer(leaving_open), fleet=Courts()))
    return path


def test_a_replay_comes_to_the_same_end_with_no_machine(recorded: Path, tmp_path: Path) -> None:
    with Records(recorded) as before, Store(tmp_path / "copy.db") as after:
        run = next(before.runs()).id
        assert any(event.kind == "race" for event in before.events(run))
        assert any(event.data.get("race") for event in before.events(run) if event.kind == CAME)
        means = Means(store=after, proposer=recorded_replies(before, run), fleet=Recorded(before, run))
        again = replay(before, run, means).run
        assert archive_of(after, again).to_json() == archive_of(before, run).to_json()
        assert [move.data for move in after.moves(again)] == [move.data for move in before.moves(run)]


@pytest.mark.parametrize("life", range(13, 25, 3))
def test_a_run_that_was_left_while_tuning_replays_too(task, tmp_path, monkeypatch, life):  # noqa: F811
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    plan = Plan(backend="cpp", budget=Budget(evaluations=8), lanes=1, tuning=MODEST)
    with Store(tmp_path / "left.db") as before, Store(tmp_path / "copy.db") as after:
        made = {"store": before, "proposer": Writer(leaving_open)}
        with suppress(Left):
            optimize(task, plan, Means(**made, fleet=Frail(life)))
        run = next(before.runs()).id
        resume(run, Means(**made, fleet=Courts()))
        means = Means(store=after, proposer=recorded_replies(before, run), fleet=Recorded(before, run))
        again = replay(before, run, means).run
        assert [move.data for move in after.moves(again)] == [move.data for move in before.moves(run)]


def test_a_run_of_an_earlier_version_has_no_such_phase() -> None:
    told = Plan(backend="cpp", budget=Budget(evaluations=1)).to_json()
    assert Plan.from_json(told).tunes == TuningBudget()
    del told["tuning"]
    assert Plan.from_json(told).tunes is None


@pytest.mark.parametrize("what", ["seconds", "kernels", "finalists"])
def test_a_budget_of_nothing_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match=f"tuning with {what} of 0 is nothing"):
        TuningBudget(**{what: 0})


def test_prompts_ask_for_templates_where_there_is_somebody_to_settle_them(tmp_path, task, monkeypatch):  # noqa: F811
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
    asked = {}
    for without in ((), ("tuning",)):
        writer = Writer(leaving_open)
        with Store(tmp_path / f"{len(without)}.db") as kept:
            plan = Plan(backend="cpp", budget=Budget(evaluations=1), without=without)
            optimize(task, plan, Means(store=kept, proposer=writer, fleet=Courts()))
        asked[without] = writer.asked[0].prompt
    assert "// tune: 4, 8, 16, 32" in asked[()]
    assert "tune" not in asked[("tuning",)]
