"""A race of a candidate's parameters is one job, here or behind a spool folder; who wins is nobody's verdict."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.fleet import Here, Job, Kind, Spool, Worker
from kernelwright.judge import source_hash
from kernelwright.tasks import Task
from tests.fleet.conftest import Puppet
from tests.tuning.candidates import RELU
from tests.tuning.conftest import relu_task as relu_task

RULES = {"seconds": 0.01, "heat": 2, "finalists": 1}
LONG = 60.0


def test_a_candidate_that_declares_nothing_is_not_raced_and_the_reason_comes_back(
    puppet: type[Puppet], job: Callable[..., Job]
) -> None:
    here = Here(judges=puppet)
    here.submit(job("x = 1", race=RULES))
    (result,) = here.finished(LONG)
    here.close()
    assert (result.kind, result.race) == (Kind.RACED, None)
    assert "declares no parameters" in result.reason


def test_a_race_behind_a_spool_folder_is_told_from_a_verdict(
    spool: Spool, worker: Callable[[], Worker], job: Callable[..., Job]
) -> None:
    raced, judged = job("x = 1", race=RULES), job("x = 1")
    assert raced.name != judged.name
    spool.submit(raced)
    spool.submit(judged)
    with worker() as one:
        one.judge_waiting()
    assert {result.job: result.kind for result in spool.finished(LONG)} == {
        raced.name: Kind.RACED,
        judged.name: Kind.JUDGED,
    }


@pytest.mark.slow
def test_the_real_judge_races_and_names_finalists_of_the_space(
    relu_task: Task, throwaway_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
    here = Here()
    here.submit(Job(candidate=source_hash(RELU), source=RELU, task=relu_task.to_wire(), race=RULES))
    found = here.finished(10 * LONG)
    here.close()
    assert [result.kind for result in found] == [Kind.RACED]
    assert found[0].race is not None
    assert found[0].race["configurations"] == 11
    assert set(found[0].race["finalists"][0]) == {"CHUNK", "UNROLL"}
