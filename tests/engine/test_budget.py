"""What a run may spend, and when it ends."""

from dataclasses import replace

import pytest

from kernelwright.engine._budget import Budget, Forecast, exhausted, forecast, room_for
from kernelwright.store import Spent


def spent(**parts: float) -> Spent:
    nothing = dict.fromkeys(Spent.__dataclass_fields__, 0)
    return Spent(**{**nothing, **parts})


def test_a_run_without_any_limit_is_refused():
    with pytest.raises(ValueError, match="at least one of evaluations"):
        Budget()


@pytest.mark.parametrize("amount", [0, -3, float("nan")])
def test_a_limit_that_allows_nothing_is_refused(amount):
    with pytest.raises(ValueError, match="nothing to run on"):
        Budget(dollars=amount)


def test_the_part_that_is_used_up_is_named():
    budget = Budget(evaluations=10, tokens=1000)
    assert exhausted(budget, spent(evaluations=9, tokens_in=900, tokens_out=99)) is None
    assert (
        exhausted(budget, spent(evaluations=9, tokens_in=900, tokens_out=100)) == "the budget of 1000 tokens is used up"
    )


def test_candidates_under_way_are_counted_before_more_are_asked_for():
    budget = Budget(evaluations=10)
    assert room_for(budget, spent(evaluations=7), under_way=2)
    assert not room_for(budget, spent(evaluations=7), under_way=3)
    assert room_for(Budget(tokens=10), spent(), under_way=1000)


def test_no_more_is_asked_for_than_can_be_begun_to_be_judged_before_the_time_is_up():
    budget = Budget(wall_seconds=60)
    five_seconds_each = spent(evaluations=8, judge_seconds=40, wall_seconds=49)
    assert room_for(budget, five_seconds_each, under_way=2)
    assert not room_for(budget, five_seconds_each, under_way=3)
    assert room_for(budget, replace(five_seconds_each, wall_seconds=59), under_way=0)
    sixteen_judges = spent(evaluations=160, judge_seconds=800, wall_seconds=50)
    assert room_for(budget, sixteen_judges, under_way=31)
    assert room_for(budget, spent(wall_seconds=59), under_way=3)  # nothing is known of a pace


def test_the_first_part_to_run_out_is_forecast_at_the_pace_so_far():
    budget = Budget(evaluations=100, dollars=2.0)
    assert forecast(budget, spent()) is None
    assert forecast(budget, spent(evaluations=10, dollars=1.0, wall_seconds=60)) == Forecast("dollars", 60.0)
