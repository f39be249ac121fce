"""On recorded sweeps of real kernels a race finds what is fast in a twentieth of their time, with nothing compiled."""

from pathlib import Path

import pytest

from benchmarks.bench_tuner import BEHIND, SHARE, SWEEPS, Sweep

NAMES = sorted(folder.name for folder in SWEEPS.iterdir())


@pytest.fixture(scope="module", params=NAMES)
def sweep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return Sweep(request.param, Path(tmp_path_factory.mktemp("sweeps")) / "log.jsonl")


def test_a_sweep_is_of_all_that_its_constraints_allow_and_of_nothing_else(sweep: Sweep) -> None:
    assert len(sweep.space) >= 2000
    assert set(sweep.times) == set(sweep.space.configurations)
    assert sweep.space.combinations > len(sweep.space)


@pytest.mark.parametrize("seed", range(2))
def test_a_twentieth_of_its_time_comes_within_three_percent_of_its_best(sweep: Sweep, seed: int) -> None:
    raced = sweep.race(seed, SHARE)
    assert raced.share <= SHARE
    assert raced.behind <= BEHIND


def test_the_same_seed_names_the_same_winner_with_no_compiler(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert sweep.race(7, SHARE) == sweep.race(7, SHARE)
