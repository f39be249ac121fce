"""Seeds: written and judged before a model is asked for anything, with a budget of their own."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright import report
from kernelwright.engine import (
    Budget,
    Found,
    Means,
    Plan,
    Recorded,
    StopRules,
    archive_of,
    optimize,
    recorded_replies,
    replay,
    resume,
)
from kernelwright.propose import Reply, Request
from kernelwright.propose.builtin import CannotWriteError
from kernelwright.store import SEED, Records, State, Store
from kernelwright.tasks import Task, load_task
from tests.engine.test_optimize import edited
from tests.engine.test_replay import Unsteady
from tests.engine.world import Courts, Frail, Left, Writer, climbing, kernel, speed_of
from tests.judge.texts import TASKS

SEEDS = 4


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture(autouse=True)
def _no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db") as store:
        yield store


def program(request: Request, rng: random.Random) -> str:
    """Seeds of several speeds, the second of them wrong."""
    speed = {"1": 1.5, "2": -1.0}.get(request.id, 1.2 + 0.1 * int(request.id))
    return kernel(speed, f"seed {request.id}", team=request.id == "3")


def cannot(request: Request, rng: random.Random) -> str:
    raise CannotWriteError("the built-in synthesiser does not know the operator aten.sort.default.")


def plan(evaluations: int = 6, **parts: Any) -> Plan:
    chosen: dict[str, Any] = {"lanes": 1, "seeds": SEEDS, "seed_with": "builtin", **parts}
    return Plan(backend="cpp", **{"budget": Budget(evaluations=evaluations), **chosen})


def played(store: Store, task: Task, asked_for: Plan, **means: Any) -> tuple[Found, Writer, Writer]:
    seeder, model = means.pop("seeder", Writer(program)), means.pop("model", Writer(climbing))
    means = {"fleet": Courts(), **means}
    return optimize(task, asked_for, Means(store=store, proposer=model, seeder=seeder, **means)), seeder, model


def kinds(records: Records, run: str) -> list[str]:
    return [asked.kind for asked in records.requests(run)]


# *** before the first call ***


@pytest.mark.parametrize("lanes", [1, 3])
def test_all_seeds_are_judged_before_a_model_is_asked(store, task, lanes):
    courts, judged = Courts(), []

    class Model(Writer):
        def propose(self, request: Request) -> Reply:
            judged.append(len({job.candidate for job in courts.heard}))
            return super().propose(request)

    found, seeder, model = played(store, task, plan(lanes=lanes), fleet=courts, model=Model(climbing))
    assert len(seeder.asked) == SEEDS
    assert {request.kind for request in seeder.asked} == {SEED}
    assert judged[0] == SEEDS
    assert model.asked[0].kind == "improve", "there were elites to build on, and it was asked for a draft"
    assert "seed" in (model.asked[0].parent or "")
    assert kinds(store, found.run)[: SEEDS + 1] == [SEED] * SEEDS + ["improve"]


def test_the_first_seed_is_a_draft_and_later_ones_vary_the_best(store, task):
    _, seeder, _ = played(store, task, plan())
    assert [request.parent and speed_of(request.parent) for request in seeder.asked] == [None, 1.5, 1.5, 1.5]


def test_seeds_are_told_of(store, task):
    told: list[tuple[str, dict]] = []
    played(store, task, plan(), tell=lambda kind, data: told.append((kind, data)))
    assert [data for kind, data in told if kind == "seeded"] == [{"seeds": SEEDS, "filled": 2, "results": SEEDS}]


# *** what they cost, and what they teach ***


def test_they_have_a_budget_of_their_own(store, task):
    found, _, model = played(store, task, plan(evaluations=6))
    spent = store.spent(found.run)
    assert found.reason == "the budget of 6 evaluations is used up"
    assert (spent.evaluations, spent.seeds) == (6 + SEEDS, SEEDS)
    assert spent.tokens_in == 10 * (len(model.asked) + SEEDS)
    assert len(model.asked) == 6


def test_there_are_no_more_of_them_than_evaluations(store, task):
    found, seeder, _ = played(store, task, plan(evaluations=2))
    assert len(seeder.asked) == 2
    assert store.spent(found.run).evaluations == 4


def test_they_take_a_quarter_of_the_time_at_most(store, task):
    """A verdict of this court takes two seconds."""
    _, seeder, model = played(store, task, plan(budget=Budget(judge_seconds=16.0)))
    assert len(seeder.asked) == 2
    assert model.asked


def test_a_target_that_a_seed_reaches_spares_every_call(store, task):
    found, _, model = played(store, task, plan(rules=StopRules(target=1.4)))
    assert found.reason.startswith("the target of 1.4x is reached")
    assert model.asked == []
    assert found.best is not None


def test_a_plateau_counts_what_the_model_wrote(store, task):
    model = Writer(lambda request, rng: kernel(0.5, request.id))
    found, *_ = played(store, task, plan(evaluations=20, rules=StopRules(plateau=3)), model=model)
    assert found.reason == "nothing better in 3 evaluations"
    assert len(model.asked) == 3


def test_they_teach_neither_advice_nor_directions(store, task):
    found, *_ = played(store, task, plan())
    births = list(store.births(found.run))
    seeds = {birth.candidate for birth in births if birth.is_seed}
    assert len(seeds) == SEEDS
    assert all(birth.direction is None and birth.genome is None for birth in births if birth.candidate in seeds)
    genomes = {birth.genome for birth in births if birth.genome}
    assert genomes
    assert {one.candidate for name in genomes for one in store.outcomes(name, "cpp")}.isdisjoint(seeds)


def test_a_model_is_not_asked_to_repair_what_a_program_wrote(store, task):
    model = Writer(lambda request, rng: kernel(1.1, request.id))
    found, *_ = played(store, task, plan(evaluations=8), model=model)
    assert any(move.kind == "failed" for move in store.moves(found.run))
    assert {request.kind for request in model.asked} == {"improve"}


def test_a_seed_has_its_parent_in_the_records(store, task):
    found, *_ = played(store, task, plan())
    parents = [birth.parent for birth in store.births(found.run)][:SEEDS]
    sources = [parent and speed_of(store.candidate(parent).source) for parent in parents]
    assert sources == [None, 1.5, 1.5, 1.5]


# *** without them ***


def test_who_cannot_write_the_task_is_asked_once_and_the_search_goes_on(store, task):
    found, seeder, model = played(store, task, plan(lanes=3), seeder=Writer(cannot))
    (event,) = [event for event in store.events(found.run) if event.kind == "unseeded"]
    assert event.data["why"] == "the built-in synthesiser does not know the operator aten.sort.default."
    assert len(seeder.asked) == 1
    assert len(model.asked) == 6
    assert found.best is not None
    assert store.spent(found.run).seeds == 0
    assert list(store.unanswered(found.run)) == []


def test_a_plan_that_names_nobody_has_no_seeds(store, task):
    found, seeder, _ = played(store, task, plan(seed_with=None))
    assert seeder.asked == []
    assert SEED not in kinds(store, found.run)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"seed_with": "bulitin"}, "did you mean builtin"),
        ({"without": ("seeding",)}, "asked for and left out"),
        ({"seeds": 0}, "0 seeds are none"),
    ],
)
def test_what_cannot_be_meant_is_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        plan(**parts)


# *** left, and played again ***


def course(records: Records, run: str) -> tuple[list[str], list[dict], int]:
    prompts = [asked.prompt for asked in records.requests(run)]
    return prompts, [move.data for move in records.moves(run)], records.spent(run).seeds


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, task: Task) -> tuple[list[str], list[dict], int]:
    """What an unbroken run comes to."""
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path_factory.mktemp("whole") / "runs.db") as store:
        patch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)
        found, *_ = played(store, task, plan())
        return course(store, found.run)


@pytest.mark.parametrize("life", [0, 1, 2, 3, 5, 7])
def test_left_after_any_verdict_it_goes_on_as_if_it_had_not_been(tmp_path, task, whole, life):
    with Store(tmp_path / "left.db") as store:
        with pytest.raises(Left):
            played(store, task, plan(), fleet=Frail(life))
        (run,) = store.runs()
        assert run.state is State.RUNNING
        before = kinds(store, run.id).count(SEED)
        seeder = Writer(program)
        resume(run.id, Means(store=store, proposer=Writer(climbing), seeder=seeder, fleet=Courts()))
        assert course(store, run.id) == whole
        assert len(seeder.asked) == SEEDS - before, "a seed was asked for again"


@pytest.mark.parametrize(("lanes", "seeder"), [(1, program), (5, program), (2, cannot)])
def test_a_replay_comes_to_the_same_end(tmp_path, task, lanes, seeder):
    recorded, world = tmp_path / "recorded.db", Unsteady(lanes)
    with Store(recorded) as store:
        means = Means(store=store, proposer=world, seeder=Writer(seeder), fleet=world)
        optimize(task, plan(evaluations=12, lanes=lanes), means)
    assert_replays(recorded, tmp_path / "copy.db")


def assert_replays(recorded: Path, copy: Path) -> None:
    """The last run of a store."""
    with Records(recorded) as records, Store(copy) as store:
        run = list(records.runs())[-1].id
        means = Means(store=store, proposer=recorded_replies(records, run), fleet=Recorded(records, run))
        found = replay(records, run, means)
        assert archive_of(store, found.run).to_json() == archive_of(records, run).to_json()
        assert course(store, found.run)[:2] == course(records, run)[:2]


def test_seeds_that_an_earlier_run_had_judged_are_not_judged_again_and_replay_too(tmp_path, task):
    recorded, courts = tmp_path / "recorded.db", Courts()
    with Store(recorded) as store:
        played(store, task, plan(), model=Writer(edited))
        found, *_ = played(store, task, plan(seed=7), model=Writer(edited), fleet=courts)
        assert not any("seed" in job.source for job in courts.heard if job.measurement == 1 and not job.final)
        assert len(archive_of(store, found.run).elites) >= 2
    assert_replays(recorded, tmp_path / "copy.db")


def test_the_winner_may_be_a_seed(store, task):
    model = Writer(lambda request, rng: kernel(0.5, request.id))
    found, *_ = played(store, task, plan(), model=model)
    assert found.best is not None
    assert math.exp(found.best.log_speedup) == pytest.approx(1.6)


class Program(Writer):
    """Somebody whose answers bear another name than the model's."""

    def propose(self, request: Request) -> Reply:
        return replace(super().propose(request), model="program")


def test_a_run_with_seeds_and_one_without_can_be_compared(tmp_path, task):
    """By evaluations seeds are paid for; the model is who answered the other requests, so that the runs are alike."""
    courses, by_answers = [], []
    for name, asked_for in (("with", plan()), ("without", plan(seed_with=None, without=("seeding",)))):
        with Store(tmp_path / f"{name}.db") as store:
            found, *_ = played(store, task, asked_for, seeder=Program(program))
            courses.append(report.course(store, store.run(found.run)))
            by_answers.append(report.course(store, store.run(found.run), "answers"))
    assert [course.facts["model"] for course in courses] == ["writer", "writer"]
    assert [course.spent for course in courses] == [6 + SEEDS, 6]
    found = report.compare(courses, ("method", "seeding", "without"), whole=True)
    assert found.ways == ("map-elites seeded", "map-elites")
    assert len(found.places) == 1
    assert found.gaps
    assert [course.spent for course in by_answers] == [6, 6]
    assert by_answers[0].best_at(0) is not None
    assert by_answers[1].best_at(0) is None
