"""One append-only file is log, point to resume from and source of replays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.tuning import Lap, Race, Record, Recorded, Rules, TuningError, recorded_setting, sweep
from tests.tuning.landscape import Landscape, made_up_space

SETTING = {"task": "t", "candidate": "c", "cpu": "one", "compiler": "g++ 12", "driver": "absent"}
RULES = Rules(seconds=25)


@pytest.fixture
def space():
    return made_up_space([5, 5, 4])


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "deep" / "tuning.jsonl"


def raced(space, cache, machine, setting=SETTING):
    racer = Recorded(Record(cache, setting), {"case0": 1.0}, machine)
    return Race(space, racer, RULES).run(), racer


def test_a_replay_comes_to_the_same_end_with_nothing_run(space, cache):
    first, _ = raced(space, cache, Landscape(space, seed=1, noise=0.05))
    again, racer = raced(space, cache, None)
    assert again == first
    assert racer.replayed > 0


def test_a_race_cut_off_anywhere_goes_on_to_the_same_end(space, cache):
    whole, _ = raced(space, cache, Landscape(space, seed=1, noise=0.0))
    lines = cache.read_bytes()
    for share in (0.1, 0.5, 0.93):
        cache.write_bytes(lines[: int(len(lines) * share)])
        machine = Landscape(space, seed=1, noise=0.0)
        again, _ = raced(space, cache, machine)
        assert again.finalists == whole.finalists
        assert len(machine.asked) < len(whole.forms)


@pytest.mark.parametrize("other", ["task", "candidate", "cpu", "compiler", "driver"])
def test_what_was_measured_elsewhere_is_never_taken_for_this(space, cache, other):
    raced(space, cache, Landscape(space, seed=1, noise=0.0))
    _, racer = raced(space, cache, Landscape(space, seed=1, noise=0.0), {**SETTING, other: "another"})
    assert racer.replayed == 0


def test_the_file_only_grows(space, cache):
    raced(space, cache, Landscape(space, seed=1, noise=0.0))
    before = cache.read_bytes()
    raced(space, cache, Landscape(space, seed=1, noise=0.0), {**SETTING, "cpu": "another"})
    assert cache.read_bytes().startswith(before)
    assert len(cache.read_bytes()) > len(before)


def test_a_race_on_a_recorded_sweep_needs_nothing_else(space, cache):
    machine = Landscape(space, seed=4, noise=0.02)
    price = sweep(space, Recorded(Record(cache, SETTING), machine.weights, machine), heat=8, rounds=12)
    racer = Recorded(Record(cache, SETTING), machine.weights)
    outcome = Race(space, racer, Rules(seconds=price / 4)).run()
    assert outcome.spent <= price / 4
    assert min(map(machine.true, outcome.finalists)) <= 1.03 * machine.best()


def test_a_replay_of_what_is_not_recorded_is_one_sentence(space, cache):
    with pytest.raises(TuningError, match="not recorded"):
        raced(space, cache, None)


def test_a_failure_is_recorded_and_not_run_again(space, cache):
    machine = Landscape(space, seed=1, noise=0.0, broken=0.9)
    first, _ = raced(space, cache, machine)
    again, _ = raced(space, cache, None)
    assert [form.failure for form in again.forms] == [form.failure for form in first.forms]


def test_a_judgement_is_had_whole_or_not_at_all(space, cache):
    one = space.configurations[0]
    lap = Lap(times={"case0": (1.0,) * 9}, pace={"case0": (2.0,) * 9}, run=3.0, whole=True)

    class Judge:
        weights = {"case0": 1.0}  # noqa: RUF012
        judged = 0

        def run(self, entrants, rounds):
            self.judged += len(entrants)
            return [lap for _ in entrants]

    judge = Judge()
    racer = Recorded(Record(cache, SETTING), judge.weights, judge)
    assert racer.run([one], 2) == [lap]
    assert racer.run([one], 4) == [lap]
    assert judge.judged == 2
    assert Recorded(Record(cache, SETTING), judge.weights).run([one], 2) == [lap]


def test_the_setting_is_found_by_task_and_candidate(space, cache):
    raced(space, cache, Landscape(space, seed=1, noise=0.0))
    assert recorded_setting(cache, "t", "c") == SETTING
    assert recorded_setting(cache, "t", "other") is None


def test_a_place_that_cannot_be_used_is_one_sentence(space, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TuningError, match="cannot be read"):
        raced(space, tmp_path / "file" / "tuning.jsonl", Landscape(space, seed=1, noise=0.0))


@settings(max_examples=4, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_race_on_a_large_recorded_sweep_takes_a_twentieth_of_its_time(large_sweep, seed):
    large, machine, cache, price = large_sweep
    racer = Recorded(Record(cache, SETTING), machine.weights)
    outcome = Race(large, racer, Rules(seconds=price / 20, seed=seed)).run()
    assert outcome.spent <= price / 20
    assert min(map(machine.true, outcome.finalists)) <= 1.03 * machine.best()


@pytest.fixture(scope="module")
def large_sweep(tmp_path_factory):
    """A made-up machine on which everything was recorded, with the noise of a shared one."""
    large, cache = made_up_space([6, 5, 4, 4, 5]), tmp_path_factory.mktemp("sweep") / "sweep.jsonl"
    machine = Landscape(large, seed=20, noise=0.03)
    price = sweep(large, Recorded(Record(cache, SETTING), machine.weights, machine), heat=100, rounds=20)
    return large, machine, cache, price
