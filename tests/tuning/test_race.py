"""A race finds what is fast in a small part of the time that trying everything would take."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.tuning import Lap, Race, Rules, sweep
from tests.tuning.landscape import Landscape, made_up_space

SWEPT_ROUNDS = 20


def full_price(space) -> float:
    """Of building, starting and timing everything."""
    return len(space) * (0.3 + 0.1 + SWEPT_ROUNDS * 0.01)


@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.03]))
def test_a_race_comes_within_three_percent_in_a_twentieth_of_the_time(seed, noise):
    space = made_up_space([6, 5, 4, 4, 5])
    machine = Landscape(space, seed=seed, noise=noise)
    price = full_price(space) / 20
    outcome = Race(space, machine, Rules(seconds=price, seed=seed)).run()
    assert outcome.spent <= price
    assert min(machine.true(one) for one in outcome.finalists) <= 1.03 * machine.best()


@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_a_race_stays_within_its_budget_but_for_the_first_heat(seed, seconds):
    space = made_up_space([5, 4, 5])
    rules = Rules(seconds=float(seconds), seed=seed)
    outcome = Race(space, Landscape(space, seed=seed, noise=0.02), rules).run()
    first_heat = rules.heat * 0.3 + (rules.heat * 2 - 1) * (0.1 + 8 * 0.01)
    assert outcome.spent <= max(seconds, first_heat)
    assert outcome.finalists


def test_the_same_seed_and_the_same_laps_make_the_same_race():
    space = made_up_space([5, 5, 5])
    first, second = (Race(space, Landscape(space, seed=7, noise=0.05), Rules(seconds=20)).run() for _ in range(2))
    assert first == second


def test_everything_runs_where_there_is_time_for_it():
    space = made_up_space([3, 4])
    machine = Landscape(space, seed=1, noise=0.0)
    outcome = Race(space, machine, Rules(seconds=1000)).run()
    assert machine.asked == set(space.configurations)
    assert machine.true(outcome.finalists[0]) == machine.best()


def test_what_fails_is_told_and_never_wins():
    space = made_up_space([5, 5, 5])
    machine = Landscape(space, seed=3, noise=0.01, broken=0.4)
    outcome = Race(space, machine, Rules(seconds=40)).run()
    failed = [form for form in outcome.forms if not form.ran]
    assert failed
    assert not {form.configuration for form in failed} & set(outcome.finalists)
    assert all(form.failure == "COMPILE_ERROR: no" for form in failed)


def test_a_race_in_which_everything_fails_has_no_finalists():
    space = made_up_space([4, 4])

    class Broken:
        weights = {"case0": 1.0}  # noqa: RUF012

        def run(self, entrants, rounds):
            return [Lap(failure="CRASH: no", build=0.1) for _ in entrants]

    outcome = Race(space, Broken(), Rules(seconds=10)).run()
    assert outcome.finalists == ()
    assert len(outcome.forms) == 16


def test_the_fastest_of_every_case_is_a_finalist():
    space = made_up_space([8, 8])
    machine = Landscape(space, seed=11, noise=0.0, cases=2)
    outcome = Race(space, machine, Rules(seconds=1000)).run()
    for case in machine.weights:
        assert min(machine.true(one, case) for one in outcome.finalists) == pytest.approx(machine.best(case))


def test_the_faster_half_of_a_heat_runs_for_longer():
    space = made_up_space([8])
    machine = Landscape(space, seed=5, noise=0.0)
    outcome = Race(space, machine, Rules(seconds=1000)).run()
    rounds = [form.rounds for form in outcome.forms]
    assert rounds[0] > rounds[-1]
    assert rounds == sorted(rounds, reverse=True)


def test_a_sweep_leaves_nothing_out():
    space = made_up_space([4, 4, 4])
    machine = Landscape(space, seed=2, noise=0.0)
    spent = sweep(space, machine, heat=8, rounds=SWEPT_ROUNDS)
    assert machine.asked == set(space.configurations)
    assert spent == pytest.approx(full_price(space))
