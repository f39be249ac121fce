"""Samples in, a speedup with an honest interval out. Nothing here runs a kernel."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._status import Rejection
from kernelwright.judge._timing import (
    BLOCKS,
    CANDIDATE,
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    MOST_WATCHED,
    QUICK_ROUNDS,
    TRIAL_BLOCKS,
    CaseTiming,
    Stopped,
    Timer,
    _rounds,
    speedup,
)


class Charged:
    """A stopped worker to whom the kernel charges processor time."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = list(seconds)

    def freeze(self) -> None: ...

    def cpu_seconds(self) -> float:
        return self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]


def test_a_time_slice_that_is_charged_late_is_no_crime_and_running_on_is():
    late = Stopped(Charged(1.0, 1.0, 1.01))
    late.begin()
    late.check()
    late.check()
    running = Stopped(Charged(1.0, 1.0, 1.01, 1.02))
    running.begin()
    running.check()
    with pytest.raises(Rejection, match="ran while it was stopped"):
        running.check()


SECONDS = st.floats(1e-6, 10.0)
ROUNDS = 8


def timing(mine, theirs, *, weight=1.0, overhead=0.0, case="given") -> CaseTiming:
    """A case from arrays (blocks, rounds) of seconds."""
    blocks = [{CANDIDATE: list(m), "eager": list(t)} for m, t in zip(mine, theirs, strict=True)]
    return CaseTiming(case, weight, blocks, overhead)


def steady(mine: float, theirs: float, **options) -> CaseTiming:
    shape = (BLOCKS, ROUNDS)
    return timing(np.full(shape, mine), np.full(shape, theirs), **options)


def noisy(
    rng: np.random.Generator, ratio: float, sigma: float, between: float = 0.0, rounds: int = ROUNDS
) -> CaseTiming:
    """Log-normal noise on each sample, and some that a whole block shares."""
    shared = between * rng.standard_normal((BLOCKS, 1))
    mine = 1e-3 * np.exp(shared + sigma * rng.standard_normal((BLOCKS, rounds)))
    theirs = ratio * 1e-3 * np.exp(sigma * rng.standard_normal((BLOCKS, rounds)))
    return timing(mine, theirs)


@given(mine=SECONDS, theirs=SECONDS)
def test_steady_samples_give_their_quotient_and_no_doubt(mine, theirs):
    found = speedup([steady(mine, theirs)], "eager")
    assert found.ratio == pytest.approx(theirs / mine)
    assert found.low == pytest.approx(found.ratio)
    assert found.high == pytest.approx(found.ratio)


def test_equal_samples_give_exactly_one():
    found = speedup([steady(1e-3, 1e-3)], "eager")
    assert (found.ratio, found.low, found.high) == (1.0, 1.0, 1.0)


@given(seed=st.integers(0, 10_000), ratio=st.floats(0.1, 10.0), sigma=st.floats(0.0, 0.5))
def test_the_interval_contains_the_ratio(seed, ratio, sigma):
    found = speedup([noisy(np.random.default_rng(seed), ratio, sigma)], "eager")
    assert 0 < found.low <= found.ratio <= found.high


def test_the_same_samples_give_the_same_interval():
    one, two = (speedup([noisy(np.random.default_rng(5), 2.0, 0.1)], "eager") for _ in range(2))
    assert one == two


def test_more_noise_gives_a_wider_interval():
    quiet = speedup([noisy(np.random.default_rng(5), 2.0, 0.01)], "eager")
    loud = speedup([noisy(np.random.default_rng(5), 2.0, 0.2)], "eager")
    assert loud.high / loud.low > quiet.high / quiet.low


def test_a_process_that_is_slow_as_a_whole_widens_the_interval():
    """Blocks are separate processes: what differs between them is doubt that no number of rounds removes."""
    rng = np.random.default_rng(1)
    together = speedup([noisy(rng, 2.0, 0.02)], "eager")
    apart = speedup([noisy(rng, 2.0, 0.02, between=0.3)], "eager")
    assert np.log(apart.high / apart.low) > 2 * np.log(together.high / together.low)


@pytest.mark.parametrize("between", [0.0, 0.05, 0.2])
def test_the_interval_holds_the_truth_as_often_as_it_says(between):
    """Over 400 made-up judgements of four rounds a process, within and between processes noisy."""
    rng = np.random.default_rng(7)
    found = [speedup([noisy(rng, 2.0, 0.1, between, rounds=4)], "eager") for _ in range(400)]
    assert np.mean([one.low <= 2.0 <= one.high for one in found]) >= 0.95
    assert np.median([np.log(one.high / one.low) for one in found]) < 4 * np.hypot(0.1, between)


def test_a_rare_hiccup_does_not_move_the_ratio():
    mine, theirs = np.full((BLOCKS, ROUNDS), 1e-3), np.full((BLOCKS, ROUNDS), 2e-3)
    theirs[1, 3] = 1.0
    assert speedup([timing(mine, theirs)], "eager").ratio == pytest.approx(2.0)


@given(fast=st.floats(1.0, 8.0), slow=st.floats(0.1, 1.0), weight=st.floats(0.1, 20.0))
def test_cases_are_joined_by_their_weighted_geometric_mean(fast, slow, weight):
    cases = [steady(1e-3, fast * 1e-3, weight=weight), steady(1e-3, slow * 1e-3)]
    wanted = np.exp((weight * np.log(fast) + np.log(slow)) / (weight + 1))
    assert speedup(cases, "eager").ratio == pytest.approx(wanted)


def test_twice_as_fast_and_half_as_fast_is_no_gain():
    assert speedup([steady(1.0, 2.0), steady(2.0, 1.0)], "eager").ratio == pytest.approx(1.0)


def test_cases_may_have_different_numbers_of_rounds():
    few = timing(np.full((BLOCKS, 4), 1.0), np.full((BLOCKS, 4), 3.0))
    assert speedup([few, steady(1.0, 3.0)], "eager").ratio == pytest.approx(3.0)


@given(mine=SECONDS, theirs=SECONDS, slower=st.floats(1.0, 3.0))
def test_whoever_goes_first_gains_and_loses_nothing(mine, theirs, slower):
    """Rounds alternate the order; two rounds in opposite order are one value."""
    first = np.tile([slower, 1.0], ROUNDS // 2)
    second = np.tile([1.0, slower], ROUNDS // 2)
    found = speedup([timing([mine * first] * BLOCKS, [theirs * second] * BLOCKS)], "eager")
    assert found.ratio == pytest.approx(theirs / mine)
    assert found.high / found.low == pytest.approx(1.0)


def test_the_journey_is_taken_off_both():
    found = speedup([steady(2e-3, 3e-3, overhead=1e-3)], "eager")
    assert found.ratio == pytest.approx(2.0)


@given(wall=SECONDS, overhead=st.floats(0.0, 100.0))
def test_a_time_is_never_less_than_a_tenth_of_what_the_clock_showed(wall, overhead):
    found = steady(wall, wall, overhead=overhead)
    assert found.median(CANDIDATE) >= wall / 10 * (1 - 1e-12)
    assert found.median(CANDIDATE) <= wall


def test_the_raw_samples_are_kept_in_milliseconds():
    told = steady(1e-3, 2e-3, overhead=5e-4).to_json()
    assert told["overhead_ms"] == pytest.approx(0.5)
    assert len(told["samples_ms"]) == BLOCKS
    assert told["samples_ms"][0]["eager"] == pytest.approx([2.0] * ROUNDS)


@given(mine=st.floats(1e-7, 100.0), theirs=st.lists(st.floats(1e-7, 100.0), min_size=1, max_size=3))
def test_rounds_come_in_pairs_and_in_reasonable_number(mine, theirs):
    rounds = _rounds(mine, theirs)
    assert rounds % 2 == 0
    assert max(2, FEWEST_ROUNDS // BLOCKS // 2 * 2) <= rounds <= max(MOST_ROUNDS, QUICK_ROUNDS) // BLOCKS


@given(mine=st.floats(1e-3, 1.0), more=st.floats(1.0, 50.0))
def test_slower_kernels_never_get_more_rounds(mine, more):
    assert _rounds(mine * more, [mine * more]) <= _rounds(mine, [mine])


@pytest.mark.parametrize("sigma", [0.02, 0.2])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_the_interval_holds_the_truth_nine_times_in_ten(ratio, sigma):
    rng = np.random.default_rng(2024)
    found = [speedup([noisy(rng, ratio, sigma)], "eager") for _ in range(200)]
    assert sum(one.low <= ratio <= one.high for one in found) >= 180


@pytest.mark.parametrize("families", [[], ["large"], ["large", "small", "spikes", "below", "ends", "mixed", "heavy"]])
def test_every_trial_is_made_between_timed_rounds_and_first_of_all_one_like_those_timed(families):
    case = object()
    trials = [SimpleNamespace(case=case, family=family) for family in ("given", "given", *families)]
    timer = Timer(SimpleNamespace(trials=trials), checker=None, start=None, baselines={})
    hands = timer._dealt(case)
    assert len(hands) == TRIAL_BLOCKS
    assert set(hands) <= set(range(BLOCKS))
    made = [trial for hand in hands.values() for trial in hand]
    assert {trial.family for trial in made} == {"given", *families}
    assert all(hand[0].family == "given" and len(hand) >= MOST_WATCHED for hand in hands.values())
