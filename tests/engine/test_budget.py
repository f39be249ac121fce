"""What a run may spend, and when it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.engine._budget import Budget, Forecast, Spent, exhausted, forecast, room_for


def test_a_run_without_any_limit_is_refused():
    with pytest.raises(ValueError, match="at least one of evaluations"):
        Budget()


@pytest.mark.parametrize("amount", [0, -3, float("nan")])
def test_a_limit_that_allows_nothing_is_refused(amount):
    with pytest.raises(ValueError, match="nothing to run on"):
        Budget(dollars=amount)


def test_the_part_that_is_used_up_is_named():
    budget = Budget(evaluations=10, tokens=1000)
    assert exhausted(budget, Spent(evaluations=9, tokens=999)) is None
    assert exhausted(budget, Spent(evaluations=9, tokens=1000)) == "the budget of 1000 tokens is used up"


def test_candidates_under_way_are_counted_before_more_are_asked_for():
    budget = Budget(evaluations=10)
    assert room_for(budget, Spent(evaluations=7), under_way=2)
    assert not room_for(budget, Spent(evaluations=7), under_way=3)
    assert room_for(Budget(tokens=10), Spent(), under_way=1000)


def test_a_reply_without_a_price_is_not_free():
    spent = Spent().with_reply(100, 0.25).with_reply(50, None)
    assert (spent.tokens, spent.dollars, spent.unpriced) == (150, 0.25, 1)


def test_the_first_part_to_run_out_is_forecast_at_the_pace_so_far():
    budget = Budget(evaluations=100, dollars=2.0)
    assert forecast(budget, Spent()) is None
    assert forecast(budget, Spent(evaluations=10, dollars=1.0, wall_seconds=60)) == Forecast("dollars", 60.0)


@given(st.lists(st.tuples(st.integers(0, 1000), st.none() | st.floats(0, 1), st.floats(0, 10)), max_size=30))
def test_spending_never_shrinks(steps):
    spent = Spent()
    for tokens, dollars, seconds in steps:
        before, spent = spent, spent.with_reply(tokens, dollars).with_verdict(seconds).after(seconds)
        assert spent.tokens >= before.tokens
        assert spent.dollars >= before.dollars
        assert spent.evaluations == before.evaluations + 1
