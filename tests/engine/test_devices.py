"""Several devices: a search is about one; what is right there is judged on the others; another can begin with it."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.engine import (
    Budget,
    Found,
    Means,
    Plan,
    Recorded,
    RunError,
    archive_of,
    elites_by_device,
    optimize,
    port,
    recorded_replies,
    replay,
    resume,
)
from kernelwright.fleet import Fleet, Here, Job, Kind
from kernelwright.judge import source_hash
from kernelwright.propose import Request
from kernelwright.store import Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Frail, Left, Writer, kernel
from tests.judge.texts import TASKS

DEVICES = ("large", "small")
EVALUATIONS = 12


def teams(request: Request, rng: random.Random) -> str:
    """Kernels of two cells; one in five is wrong."""
    if request.kind == "rewrite":
        return "no edits"
    speed = rng.uniform(1.0, 2.0)
    return kernel(round(-speed if rng.random() < 0.2 else speed, 4), request.id, team=int(request.id) % 2 == 0)


def luck(job: Job) -> float:
    """Teams gain on the large one, and lose on the small one."""
    team = "#pragma" in job.source
    return {"large": 3.0 if team else 1.0, "small": 0.5 if team else 2.0}.get(job.device or "", 1.0)


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "runs.db") as opened:
        yield opened


def begin(store: Store, task: Task, devices: tuple[str, ...] = DEVICES, lanes: int = 1) -> str:
    plan = Plan(
        backend="cpp", budget=Budget(evaluations=EVALUATIONS), lanes=lanes, devices=devices, without=("profile",)
    )
    return store.begin_run(task=task.hash, wire=task.to_wire(), settings=plan.to_json(), versions={}, machine={}).id


def play(store: Store, run: str, fleet: Fleet) -> Found:
    return resume(run, Means(store=store, proposer=Writer(teams), fleet=fleet))


@pytest.mark.parametrize("lanes", [1, 4])
def test_what_is_right_is_judged_on_every_device_once_and_the_search_learns_from_the_first(
    store: Store, task: Task, lanes: int
) -> None:
    court = Courts(luck=luck)
    run = begin(store, task, lanes=lanes)
    found = play(store, run, court)
    firsts = [job for job in court.heard if job.measurement == 1 and not job.final]
    on = {device: {job.candidate for job in firsts if job.device == device} for device in DEVICES}
    accepted = {one.candidate for one in store.verdicts(run) if one.device == "large" and one.verdict["accepted"]}
    assert len(on["large"]) == EVALUATIONS
    assert on["small"] == accepted
    assert 0 < len(accepted) < EVALUATIONS
    assert len(firsts) == EVALUATIONS + len(accepted)
    assert store.spent(run).evaluations == EVALUATIONS
    assert {elite.candidate: elite.log_speedup for elite in found.archive.elites.values()} == {
        elite.candidate: elite.log_speedup for elite in elites_by_device(store, run)["large"].values()
    }


def test_the_map_says_which_idea_wins_where(store: Store, task: Task) -> None:
    run = begin(store, task)
    play(store, run, Courts(luck=luck))
    found = elites_by_device(store, run)
    assert list(found) == list(DEVICES)
    best = {device: max(elites.values(), key=lambda one: one.log_speedup) for device, elites in found.items()}
    assert best["large"].cell != best["small"].cell
    assert math.exp(best["large"].log_speedup) > 3


def test_a_run_that_names_no_device_has_no_map_by_device(store: Store, task: Task) -> None:
    run = begin(store, task, devices=())
    play(store, run, Courts())
    assert elites_by_device(store, run) == {}
    assert {judged.device for judged in store.verdicts(run)} == {"court"}


@pytest.mark.parametrize("life", range(1, 20, 3))
def test_a_run_that_is_left_goes_on_on_all_devices(tmp_path: Path, task: Task, life: int) -> None:
    with Store(tmp_path / "unbroken.db") as whole:
        unbroken = begin(whole, task)
        play(whole, unbroken, Courts())
        wanted = sorted((judged.candidate, judged.device) for judged in whole.verdicts(unbroken))
    with Store(tmp_path / "left.db") as store:
        run = begin(store, task)
        with pytest.raises(Left):
            play(store, run, Frail(life))
        play(store, run, Courts())
        assert sorted((judged.candidate, judged.device) for judged in store.verdicts(run)) == wanted


@pytest.mark.parametrize("lanes", [1, 4])
def test_it_can_be_replayed(store: Store, task: Task, tmp_path: Path, lanes: int) -> None:
    run = begin(store, task, lanes=lanes)
    play(store, run, Courts(luck=luck))
    with Store(tmp_path / "again.db") as copy:
        means = Means(store=copy, proposer=recorded_replies(store, run), fleet=Recorded(store, run))
        again = replay(store, run, means)
        assert again.archive.to_json() == archive_of(store, run).to_json()
        assert elites_by_device(copy, again.run) == elites_by_device(store, run)


class Lame(Courts):
    """Cannot judge on the small one."""

    def finished(self, timeout: float):
        for job in [job for job in self._waiting if job.device == "small"]:
            self._waiting.remove(job)
            return [self._result(job, Kind.INFRA, reason="no node of this fleet judges cpp on small")]
        return super().finished(timeout)


def test_a_device_that_cannot_judge_does_not_end_the_search_on_another(store: Store, task: Task) -> None:
    run = begin(store, task)
    assert play(store, run, Lame(luck=luck)).best is not None
    told = [event.data["why"] for event in store.events(run) if event.kind == "unjudged elsewhere"]
    assert set(told) == {"no node of this fleet judges cpp on small"}


@pytest.mark.parametrize(("said", "wanted"), [((), DEVICES), (("small",), ("small",))])
def test_a_task_names_its_devices_unless_the_plan_does(
    store: Store, task: Task, said: tuple[str, ...], wanted: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *_: {})
    plan = Plan(backend="cpp", budget=Budget(evaluations=4), lanes=1, devices=said, without=("profile",))
    means = Means(store=store, proposer=Writer(teams), fleet=Courts(luck=luck))
    run = optimize(replace(task, targets=DEVICES), plan, means).run
    assert tuple(elites_by_device(store, run)) == wanted
    assert {judged.device for judged in store.verdicts(run)} == set(wanted)


# *** other hardware ***


@pytest.fixture
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """These judges are not to be found out."""
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *_: {})


@pytest.mark.usefixtures("believed")
def test_a_run_on_other_hardware_begins_with_the_elites_and_measures_them_there(store: Store, task: Task) -> None:
    before = begin(store, task, devices=("large",))
    elites = {one.candidate for one in play(store, before, Courts(luck=luck)).archive.elites.values()}
    court = Courts(luck=luck)
    plan = Plan(
        backend="cpp", budget=Budget(evaluations=EVALUATIONS), lanes=1, devices=("small",), without=("profile",)
    )
    found = port(before, plan, Means(store=store, proposer=Writer(teams), fleet=court))
    assert {job.candidate for job in court.heard[: len(elites)]} == elites
    assert {job.device for job in court.heard} == {"small"}
    assert store.spent(found.run).evaluations == EVALUATIONS
    assert store.run(found.run).id != before
    assert len(elites) == 2


@pytest.mark.usefixtures("believed")
def test_a_run_that_found_nothing_is_nothing_to_begin_with(store: Store, task: Task) -> None:
    run = begin(store, task)
    plan = Plan(backend="cpp", budget=Budget(evaluations=1), devices=("small",))
    with pytest.raises(RunError, match="has no kernel to begin with"):
        port(run, plan, Means(store=store, proposer=Writer(teams), fleet=Courts()))


def test_this_machine_does_not_pretend_to_be_another(task: Task) -> None:
    here = Here()
    text = kernel(1.0).strip("`").removeprefix("python\n")
    try:
        here.submit(Job(candidate=source_hash(text), source=text, task=task.to_wire(), device="nvidia-h200"))
        (result,) = here.finished(60.0)
    finally:
        here.close()
    assert result.kind is Kind.INFRA
    assert "and not nvidia-h200" in result.reason
