"""What the metrics promise, whatever the outcomes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.report import THRESHOLDS, Outcome, correctness, fast, geometric_mean, kept, pass_at
from kernelwright.report._metrics import estimate, of_solved, usable_k

ratios = st.floats(0.01, 100)
solved = ratios.map(lambda ratio: Outcome(True, ratio))
failed = st.just(Outcome(False))
untimed = st.just(Outcome(True))
outcomes = st.lists(st.one_of(solved, failed), min_size=1, max_size=30)
any_outcomes = st.lists(st.one_of(solved, failed, untimed), max_size=30)
means = pytest.mark.parametrize("mean", [np.median, geometric_mean])


@given(outcomes, ratios, ratios)
def test_a_higher_threshold_is_passed_by_no_more_tasks(found, one, other):
    low, high = sorted((one, other))
    assert fast(found, high).value <= fast(found, low).value <= correctness(found).value


@given(outcomes)
def test_a_share_lies_between_none_and_all_and_so_does_its_interval(found):
    for share in (correctness(found), *(fast(found, threshold) for threshold in THRESHOLDS)):
        assert 0 <= share.low <= share.high <= 1
        assert 0 <= share.value <= 1
        assert share.tasks == len(found)


@means
@given(found=outcomes)
def test_a_mean_lies_between_the_least_and_the_most(found, mean):
    values = [outcome.ratio if outcome.solved else 1.0 for outcome in found]
    whole = kept(found, mean)
    tiny = 1e-9
    assert min(values) * (1 - tiny) <= whole.low <= whole.high <= max(values) * (1 + tiny)
    assert min(values) * (1 - tiny) <= whole.value <= max(values) * (1 + tiny)


@means
@given(found=outcomes, more=st.integers(1, 20))
def test_failures_draw_a_mean_towards_keeping_the_original(found, more, mean):
    before, after = kept(found, mean).value, kept([*found, *[Outcome(False)] * more], mean).value
    assert min(before, 1.0) - 1e-9 <= after <= max(before, 1.0) + 1e-9
    assert abs(math.log(after)) <= abs(math.log(before)) + 1e-9


@means
@given(found=any_outcomes)
def test_failures_and_untimed_tasks_do_not_touch_what_is_said_of_solved_ones(found, mean):
    timed = [outcome for outcome in found if outcome.solved and outcome.ratio is not None]
    assert of_solved(found, mean) == kept(timed, mean)


@given(any_outcomes)
def test_untimed_tasks_are_correct_and_in_no_speed(found):
    timed = [outcome for outcome in found if not outcome.untimed]
    assert fast(found, 1.0) == fast(timed, 1.0)
    assert kept(found, geometric_mean) == kept(timed, geometric_mean)
    if found:
        assert correctness(found).value == sum(outcome.solved for outcome in found) / len(found)


@means
@given(found=outcomes, order=st.randoms())
def test_the_order_of_tasks_does_not_matter(found, order, mean):
    shuffled = list(found)
    order.shuffle(shuffled)
    one, other = kept(found, mean), kept(shuffled, mean)
    assert (one.low, one.high) == (other.low, other.high)
    assert one.value == pytest.approx(other.value)


@given(ratios, st.integers(1, 20))
def test_equal_tasks_leave_nothing_uncertain(ratio, tasks):
    same = estimate([ratio] * tasks, np.median)
    assert same.low == same.value == same.high == ratio


def test_a_threshold_must_be_passed_not_met():
    assert fast([Outcome(True, 1.5)], 1.5).value == 0
    assert fast([Outcome(True, 1.5001)], 1.5).value == 1


def test_of_no_tasks_nothing_is_said():
    assert correctness([]) is None
    assert kept([Outcome(True)], np.median) is None


def test_halves_and_doubles_cancel():
    found = [Outcome(True, 4.0), Outcome(True, 0.25), Outcome(False)]
    assert kept(found, geometric_mean).value == pytest.approx(1.0)
    assert of_solved(found, np.median).value == pytest.approx(2.125)


samples = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(samples)
def test_pass_at_k(drawn):
    n, right, k = drawn
    chance = pass_at(n, right, k)
    assert 0 <= chance <= 1
    assert pass_at(n, right, 1) == pytest.approx(right / n)
    assert pass_at(n, right, n) == (1.0 if right else 0.0)
    if k < n:
        assert pass_at(n, right, k + 1) >= chance
    if right < n:
        assert pass_at(n, right + 1, k) >= chance


@pytest.mark.parametrize(("n", "right", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_pass_at_k_of_nonsense(n, right, k):
    with pytest.raises(ValueError, match="no meaning"):
        pass_at(n, right, k)


@given(st.lists(st.integers(0, 30)))
def test_a_usable_k_is_one_that_every_task_has_samples_for(counts):
    for k in usable_k(counts):
        assert all(count == 0 or count >= k for count in counts)
    assert bool(usable_k(counts)) == any(counts)
