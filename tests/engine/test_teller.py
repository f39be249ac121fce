"""What a run tells while it goes on: enough to follow it, and the truth."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from kernelwright.archive import Archive, Entry
from kernelwright.engine import Budget, Means, Plan, optimize, resume
from kernelwright.engine._teller import Teller
from kernelwright.store import Spent, Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Writer, climbing, kernel
from tests.judge.texts import TASKS

NOTHING = dict.fromkeys(Spent.__dataclass_fields__, 0)


class Left(Exception):
    pass


class Notebook(list[tuple[str, dict[str, Any]]]):
    """What was told, in order. `most`: after so many judgements the run is left."""

    def __init__(self, most: int = 1000) -> None:
        super().__init__()
        self._most = most

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        self.append((kind, data))
        if kind == "judged" and len(self.of("judged")) >= self._most:
            raise Left

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [data for one, data in self if one == kind]


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture(autouse=True)
def _no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.engine._optimize.preflight", lambda *arguments: None)


def means(store: Store, tell: Notebook, **parts: Any) -> Means:
    return Means(store=store, proposer=parts.get("proposer", Writer(climbing)), fleet=Courts(), tell=tell)


def plan(evaluations: int = 20, **more: Any) -> Plan:
    return Plan(backend="cpp", budget=Budget(evaluations=evaluations), lanes=1, **more)


def test_the_last_word_on_how_it_stands_is_what_store_and_archive_hold(tmp_path: Path, task: Task) -> None:
    told = Notebook()
    with Store(tmp_path / "runs.db") as store:
        found = optimize(task, plan(), means(store, told))
        spent = store.spent(found.run)
    last = told.of("stands")[-1]
    counted = {name: getattr(spent, name) for name in NOTHING if name != "wall_seconds"}
    assert counted == {name: last["spent"][name] for name in counted}
    assert 0 < last["spent"]["wall_seconds"] <= spent.wall_seconds
    assert found.best is not None
    assert last["best"]["candidate"] == found.best.candidate
    assert math.log(last["best"]["low"]) == pytest.approx(found.best.low)
    assert (last["filled"], last["asking"], last["judging"]) == (len(found.archive.elites), 0, 0)
    assert {elite["candidate"] for elite in told.of("elite")} >= {
        elite.candidate for elite in found.archive.elites.values()
    }


def test_everything_asked_answered_and_judged_is_told_once(tmp_path: Path, task: Task) -> None:
    told = Notebook()
    with Store(tmp_path / "runs.db") as store:
        found = optimize(task, plan(), means(store, told))
        asked = [(request.id, request.kind, request.parent) for request in store.requests(found.run)]
        paid = sum(reply.dollars or 0 for reply in store.replies(found.run))
    assert [(one["request"], one["kind"], one["parent"]) for one in told.of("asked")] == asked
    assert [one["request"] for one in told.of("answered")] == [name for name, _, _ in asked]
    assert sum(one["dollars"] for one in told.of("answered")) == pytest.approx(paid)
    assert [one["number"] for one in told.of("judged")] == list(range(1, 21))
    wrong = [one for one in told.of("judged") if one["status"] == "WRONG_VALUE"]
    assert wrong
    assert all(one["message"] == "7 of 8 elements wrong" and one["speedup"] is None for one in wrong)


def test_contests_are_told_with_both_measurements(tmp_path: Path, task: Task) -> None:
    told, texts = Notebook(), iter([kernel(1.5), kernel(2.5)])
    with Store(tmp_path / "runs.db") as store:
        optimize(task, plan(2), means(store, told, proposer=Writer(lambda request, rng: next(texts))))
    (contest,) = told.of("settled")
    assert contest["won"] is True
    assert contest["challenger"]["speedup"] == pytest.approx(2.5)
    assert contest["elite"]["speedup"] == pytest.approx(1.5)
    assert [round(one["speedup"], 3) for one in told.of("elite")] == [1.5, 2.5]


def test_a_resumed_run_first_tells_what_was_found_before(tmp_path: Path, task: Task) -> None:
    before, after = Notebook(most=8), Notebook()
    with Store(tmp_path / "runs.db") as store, pytest.raises(Left):
        optimize(task, plan(), means(store, before))
    with Store(tmp_path / "runs.db") as store:
        resume(before.of("begun")[0]["run"], means(store, after))
    assert [before.of("begun")[0]["resumed"], after.of("begun")[0]["resumed"]] == [False, True]
    kinds = [kind for kind, _ in after]
    assert kinds[0] == "begun"
    assert "asked" not in kinds[: kinds.index("stands")]
    first = after.of("stands")[0]
    assert first["best"] == before.of("stands")[-1]["best"]
    assert first["filled"] == len(after[1 : kinds.index("stands")])
    # The eighth was taken back with its transaction when the run was left in the middle of it.
    assert [one["number"] for one in after.of("judged")] == list(range(8, 21))


def test_nothing_is_told_while_nothing_changes() -> None:
    told, archive = Notebook(), Archive()
    teller = Teller(told, Budget(evaluations=4))
    for asking in (1, 1, 1, 2):
        teller.stands(archive, Spent(**{**NOTHING, "wall_seconds": len(told)}), asking=asking, judging=0)
    assert [one["asking"] for one in told.of("stands")] == [1, 2]
    archive.offer(Entry("a" * 64, (0, 1, 2), 0.5, 0.4, 0.6))
    teller.stands(archive, Spent(**NOTHING), asking=2, judging=0)
    teller.stands(archive, Spent(**NOTHING), asking=2, judging=0)
    assert [one["cell"] for one in told.of("elite")] == [[0, 1, 2]]


def test_the_forecast_is_told_as_soon_as_there_is_a_pace() -> None:
    told = Notebook()
    teller = Teller(told, Budget(evaluations=4))
    teller.stands(Archive(), Spent(**NOTHING), asking=0, judging=0)
    teller.stands(Archive(), Spent(**{**NOTHING, "evaluations": 1, "wall_seconds": 10.0}), asking=0, judging=0)
    assert [one["forecast"] for one in told.of("stands")] == [None, {"part": "evaluations", "seconds": 30.0}]
