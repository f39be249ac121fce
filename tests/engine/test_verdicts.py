"""What a verdict means to a search."""

import math

import pytest

from kernelwright.engine._verdicts import PROMISE, entry_of, promise_of, roof_share
from kernelwright.judge import ACCEPTED, Judge, Status
from kernelwright.tasks import load_task
from tests.engine.world import verdict
from tests.judge.texts import RELU, TASKS

CHEATS = {Status.TAMPER, Status.INVALID_PHYSICS}


def test_fitness_is_the_log_of_the_speedup_over_eager():
    entry = entry_of("a", (1, 2, 3), verdict("a", 2.0, width=0.1))
    assert entry is not None
    assert (entry.log_speedup, entry.low, entry.high) == pytest.approx((math.log(2), math.log(1.8), math.log(2.2)))


def test_no_failure_is_ever_a_number():
    assert entry_of("a", (0, 0, 0), verdict("a", -1.0)) is None
    assert entry_of("a", (0, 0, 0), {**verdict("a", 1.0), "speedup": {}}) is None


def test_every_rejection_is_repaired_or_a_cheat():
    assert set(Status) - ACCEPTED - {Status.INFRA} == PROMISE.keys() | CHEATS
    assert promise_of({"status": "TAMPER"}) is None


def test_the_share_of_the_roof_is_the_floor_over_the_time_by_weight():
    timing = [{"case": "small", "weight": 1.0}, {"case": "large", "weight": 3.0}]
    evidence = {"floor_ms": {"small": 1.0, "large": 2.0}, "timing": timing}
    assert roof_share({"evidence": evidence, "time_ms": {"candidate": 3.5}}) == pytest.approx(0.5)
    assert roof_share({"evidence": {}, "time_ms": {}}) is None


@pytest.mark.slow
def test_a_real_verdict_has_a_share_of_the_roof(open_judge: Judge):
    judged = open_judge.judge(load_task(TASKS / "relu.py"), RELU).to_json()
    share = roof_share(judged)
    assert share is not None
    assert 0 < share <= 1.5
