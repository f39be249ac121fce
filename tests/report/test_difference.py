"""How far two ways lie apart: what must come out where the truth is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.report._difference import MANY, Paired, Unpaired, difference

values = st.floats(-5, 5)
seeds = st.lists(values, min_size=2, max_size=8)
tasks = st.lists(seeds, min_size=1, max_size=8)
FEW = 300


@settings(max_examples=30)
@given(tasks, values)
def test_runs_that_differ_by_a_shift_differ_by_the_shift_and_nothing_else(found, shift):
    blocks = [Paired(tuple((value + shift) - value for value in task)) for task in found]
    told = difference(blocks, draws=FEW)
    assert told.value == pytest.approx(shift, abs=1e-9)
    assert told.low == pytest.approx(shift, abs=1e-9)
    assert told.high == pytest.approx(shift, abs=1e-9)


@settings(max_examples=30)
@given(tasks)
def test_equal_runs_are_not_apart_and_never_clearly_so(found):
    paired = difference([Paired(tuple(0.0 for _ in task)) for task in found], draws=FEW)
    assert (paired.value, paired.low, paired.high) == (0, 0, 0)
    assert not paired.clear
    unpaired = difference([Unpaired(tuple(task), tuple(task)) for task in found], draws=FEW)
    assert unpaired.value == 0
    assert not unpaired.clear


@settings(max_examples=30)
@given(tasks)
def test_the_other_way_round_is_the_other_way_round(found):
    one = difference([Paired(tuple(task)) for task in found], draws=FEW)
    other = difference([Paired(tuple(-value for value in task)) for task in found], draws=FEW)
    assert other.value == pytest.approx(-one.value)
    assert other.low == pytest.approx(-one.high, abs=1e-6)
    assert other.high == pytest.approx(-one.low, abs=1e-6)


def test_one_value_has_no_interval():
    assert difference([Paired((0.3,))]).low is None
    assert not difference([Paired((0.3,))]).clear
    assert difference([Paired((0.3, 0.4)), Paired((0.3,))]).low is None


def test_one_seed_a_task_is_enough_where_there_are_many_tasks():
    told = difference([Paired((0.3 + 0.01 * number,)) for number in range(MANY)])
    assert told.clear
    assert told.sampled


def test_tasks_count_alike_however_many_seeds_each_has():
    assert difference([Paired((1.0,) * 9), Paired((0.0, 0.0))]).value == pytest.approx(0.5)


def test_pairing_makes_sure_what_is_otherwise_lost_between_seeds():
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 1, 10)
    mine, theirs = luck + 0.2, luck + rng.normal(0, 0.05, 10)
    assert difference([Paired(tuple(mine - theirs))]).clear
    assert not difference([Unpaired(tuple(mine), tuple(theirs))]).clear


@pytest.mark.parametrize(
    ("number", "runs", "between"),
    [(1, 10, 0.0), (3, 5, 0.0), (8, 3, 0.3), (20, 1, 0.3)],
    ids=["one task", "few tasks, spoken of alone", "many tasks", "many tasks, one seed each"],
)
def test_the_interval_holds_about_as_often_as_it_says(number, runs, between):
    rng, truth, held, trials = np.random.default_rng(7), 0.4, 0, 300
    for _ in range(trials):
        means = truth + rng.normal(0, between, number)
        told = difference([Paired(tuple(rng.normal(mean, 0.5, runs))) for mean in means], draws=FEW)
        held += told.low <= truth <= told.high
    assert 0.90 <= held / trials <= 0.99


def test_a_difference_that_is_there_is_found_and_one_that_is_not_is_seldom_claimed():
    rng, trials = np.random.default_rng(3), 200
    claimed = dict.fromkeys((0.0, 1.0), 0)
    for shift in claimed:
        for _ in range(trials):
            claimed[shift] += difference([Paired(tuple(rng.normal(shift, 0.5, 10)))], draws=FEW).clear
    assert claimed[0.0] / trials < 0.1
    assert claimed[1.0] / trials > 0.95
