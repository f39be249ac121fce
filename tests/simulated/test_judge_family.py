"""A table that grows as searches meet members, and what is said where one is missing."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import bench_search
from kernelwright.fleet import Job
from kernelwright.judge import Judge, source_hash
from kernelwright.tasks import load_task
from tests.simulated import FAMILIES, table
from tests.simulated._family import Member
from tests.simulated.judge_family import GrowingFleet, Sitting, TimeIsUp, hear_visited, taken_up
from tests.simulated.search import search, true_course
from tests.simulated.table import NotJudged, Table, TableFleet

FAMILY = FAMILIES["attention"]
TASK = load_task(FAMILY.task)
# One with a mistake, so that nothing need be timed to judge it.
BROKEN = Member(("rows", "4", "all", "given", "own", "simd", "2", "heads", "skipped"), broken=True)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of these tests lie apart from the real ones."""
    monkeypatch.setattr(table, "VERDICTS", tmp_path)
    return tmp_path


def sitting(judge: Judge, until: float = math.inf) -> Sitting:
    return Sitting(family=FAMILY, task=TASK, table=taken_up(FAMILY), judge=judge, until=until)


def job(member: Member, remark: str) -> Job:
    source = FAMILY.source(member, remark=remark)
    return Job(candidate=source_hash(source), source=source, task=TASK.to_wire())


def answered(fleet: TableFleet, asked: Job) -> str:
    fleet.submit(asked)
    (result,) = fleet.finished(1)
    assert result.verdict is not None
    return result.verdict["status"]


def test_a_member_is_judged_when_it_is_first_met_and_then_looked_up(open_judge: Judge) -> None:
    first = answered(GrowingFleet(sitting(open_judge), seed=1), job(BROKEN, "1-1"))
    kept = Table.read(FAMILY).verdicts
    assert list(kept) == [BROKEN.key]
    assert kept[BROKEN.key]["status"] == first
    late = GrowingFleet(sitting(open_judge, until=0.0), seed=2)
    assert answered(late, job(BROKEN, "2-7")) == first
    assert answered(TableFleet(FAMILY, Table.read(FAMILY), TASK, 3), job(BROKEN, "3-1")) == first


def test_when_time_is_up_nothing_new_is_judged_and_what_was_judged_stays(open_judge: Judge) -> None:
    sitting(open_judge).hear(BROKEN)
    late = GrowingFleet(sitting(open_judge, until=0.0), seed=2)
    with pytest.raises(TimeIsUp):
        answered(late, job(BROKEN.mended, "2-8"))
    assert list(Table.read(FAMILY).verdicts) == [BROKEN.key]


def test_a_verdict_takes_a_few_hundred_bytes(open_judge: Judge) -> None:
    sitting(open_judge).hear(BROKEN)
    assert len(json.dumps(Table.read(FAMILY).verdicts)) < 400


def test_a_table_of_another_machine_is_not_gone_on_with(open_judge: Judge) -> None:
    sitting(open_judge).hear(BROKEN)
    other = Table.read(FAMILY)
    other.about["cpu"] = "another"
    other.write(FAMILY)
    with pytest.raises(SystemExit, match=r"attention\.json was made with cpu another and not .*; move it away"):
        taken_up(FAMILY)


def test_a_search_that_meets_a_member_nobody_judged_says_which_and_what_to_do(tmp_path: Path) -> None:
    Table(about={"cpu": "any", "judge": "0"}).write(FAMILY)
    with pytest.raises(NotJudged, match=r"of attention was not judged yet: run .*judge_family attention --visited"):
        search(FAMILY, tmp_path / "run.db", method="best-of-n", seed=1, evaluations=2)


def test_the_comparison_refuses_where_the_table_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench_search", "attention", "--seeds", "1", "--evaluations", "2"])
    with pytest.raises(SystemExit, match=r"no member of attention was judged yet: run "):
        bench_search.main()


@pytest.mark.slow
def test_what_a_driven_search_met_is_enough_to_repeat_it(open_judge: Judge, tmp_path: Path) -> None:
    asked = Namespace(ways="best-of-n", first_seed=200, seeds=1, evaluations=3)
    hear_visited(sitting(open_judge), asked)
    size = len(Table.read(FAMILY).verdicts)
    assert 1 <= size <= 3
    search(FAMILY, tmp_path / "again.db", method="best-of-n", seed=200, evaluations=3)
    assert len(true_course(FAMILY, tmp_path / "again.db").steps) >= size
    hear_visited(sitting(open_judge, until=0.0), asked)
