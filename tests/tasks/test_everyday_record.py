"""The recorded figures of the everyday suite, and when a later run is called slower."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import bench_everyday
from benchmarks.bench_everyday import RECORD, Outcome
from kernelwright.api import Speedup
from kernelwright.tasks.suites import select


def outcome(task: str, low: float, high: float) -> Outcome:
    return Outcome(task, "CORRECT", {"eager": Speedup((low + high) / 2, low, high)})


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = {"eager": {"ratio": 2.0, "low": 1.8, "high": 2.2}}
    kept = {"task": "softmax", "status": "CORRECT", "speeds": speeds, "said": ""}
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"cpu": "this one", "date": "a Monday", "tasks": [kept]}))
    monkeypatch.setattr(bench_everyday, "RECORD", path)


@pytest.mark.parametrize(
    ("now", "cpu", "said"),
    [
        (outcome("softmax", 1.2, 1.7), "this one", ["slower than a Monday: softmax"]),
        (outcome("softmax", 1.5, 1.9), "this one", []),
        (outcome("softmax", 1.2, 1.7), "another", []),
        (Outcome("softmax", "WRONG_VALUE", {}), "this one", ["solved a Monday and not now: softmax"]),
        (outcome("a new one", 0.1, 0.2), "this one", []),
    ],
)
@pytest.mark.usefixtures("recorded")
def test_a_task_is_slower_where_its_interval_lies_below_the_recorded_one(now: Outcome, cpu: str, said: list) -> None:
    found = list(bench_everyday._slower([now], cpu))
    assert [one.partition(",")[0] for one in found] == said


def test_every_task_of_the_suite_has_a_record() -> None:
    kept = [Outcome.from_json(one) for one in json.loads(RECORD.read_text())["tasks"]]
    assert sorted(one.task for one in kept) == sorted(problem.id for problem in select("everyday", None)[1])
    assert all(speed.low <= speed.ratio <= speed.high for one in kept for speed in one.speeds.values())
