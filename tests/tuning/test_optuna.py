"""Optuna may say what to try in large spaces; without it our own scout does. A replay asks whoever was asked then."""

import importlib.util

import pytest

from kernelwright.tuning import Race, Rules, Space, TuningError, read_template
from kernelwright.tuning._optuna import AUTO, LARGE, OPTUNA, OWN, chosen_sampler
from kernelwright.tuning._record import Record
from kernelwright.tuning._tune import _settled
from tests.tuning.landscape import LIMITS, Landscape, made_up_space

CONSTRAINED = """\
A = 0  # tune: 0..9
B = 0  # tune: 0..9
ORDER = "rows"  # tune: "rows", "columns"
# tune where: A + B <= 9
print(A, B, ORDER)
"""


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def present(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


@pytest.mark.usefixtures("absent")
def test_without_it_our_own_scout_goes_on():
    assert chosen_sampler(AUTO, made_up_space([16, 16, 16, 13])) == OWN


@pytest.mark.usefixtures("absent")
def test_who_asks_for_it_and_has_it_not_is_told_how_to_get_it():
    with pytest.raises(TuningError, match="Optuna is not installed") as caught:
        chosen_sampler(OPTUNA, made_up_space([2]))
    assert "kernelwright[optuna]" in caught.value.fix


@pytest.mark.usefixtures("present")
def test_large_spaces_are_its_and_small_ones_ours():
    large = made_up_space([16, 16, 16, 13])
    assert len(large) > LARGE
    assert chosen_sampler(AUTO, large) == OPTUNA
    assert chosen_sampler(AUTO, made_up_space([16])) == OWN
    assert chosen_sampler(OWN, large) == OWN


def test_a_sampler_that_there_is_not_is_one_sentence():
    with pytest.raises(TuningError, match="there is no sampler 'best'"):
        chosen_sampler("best", made_up_space([2]))


@pytest.mark.usefixtures("present")
def test_a_replay_asks_whoever_was_asked_then(tmp_path):
    space = made_up_space([4])
    live = Record(tmp_path / "log.jsonl", {})
    assert _settled(Rules(sampler=OPTUNA), space, live, live=True).sampler == OPTUNA
    again = Record(tmp_path / "log.jsonl", {})
    assert _settled(Rules(), space, again, live=True).sampler == OPTUNA
    assert _settled(Rules(), space, again, live=False).sampler == OPTUNA
    assert _settled(Rules(), space, Record(tmp_path / "old.jsonl", {}), live=False).sampler == OWN


@pytest.mark.optuna
def test_with_it_a_race_repeats_itself_and_stays_within_the_constraints():
    space = Space(read_template(CONSTRAINED), LIMITS)
    rules = Rules(seconds=20, sampler=OPTUNA)
    machines = [Landscape(space, seed=5, noise=0.01) for _ in range(2)]
    first, second = (Race(space, machine, rules).run() for machine in machines)
    assert first == second
    assert machines[0].asked <= set(space.configurations)
    assert len(machines[0].asked) > rules.sample
    assert min(machines[0].true(one) for one in first.finalists) <= 1.1 * machines[0].best()


@pytest.mark.optuna
def test_with_it_everything_runs_where_there_is_time_for_it():
    space = made_up_space([2, 9])
    machine = Landscape(space, seed=1, noise=0.0)
    Race(space, machine, Rules(seconds=1000, sampler=OPTUNA)).run()
    assert machine.asked == set(space.configurations)


@pytest.mark.optuna
def test_with_it_a_large_space_is_searched():
    space = made_up_space([16, 16, 16, 13])
    machine = Landscape(space, seed=3, noise=0.01)
    outcome = Race(space, machine, Rules(seconds=30)).run()
    assert len(space) > LARGE
    assert min(machine.true(one) for one in outcome.finalists) <= 2 * machine.best()
