"""The floor under every believable time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge import Status, _ceilings
from kernelwright.judge._ceilings import Ceilings, _read
from tests.judge.texts import EIGHT

SLOW = Ceilings({1 << 28: 1.0})
SPEEDS = st.dictionaries(st.integers(1, 1 << 30), st.floats(1e6, 1e13), min_size=1, max_size=8)


@given(speeds=SPEEDS, few=st.floats(0, 1e12), more=st.floats(0, 1e12))
def test_more_bytes_never_take_less_time(speeds, few, more):
    ceilings = Ceilings(speeds)
    assert ceilings.floor_seconds(few) <= ceilings.floor_seconds(few + more)


@given(speeds=SPEEDS, size=st.floats(1, 1e12))
def test_the_floor_is_never_above_what_the_fastest_cache_allows(speeds, size):
    floor = Ceilings(speeds).floor_seconds(size)
    assert size / max(speeds.values()) <= floor <= size / min(speeds.values())


def test_beyond_the_largest_size_its_speed_counts():
    assert Ceilings({1 << 10: 1e12, 1 << 20: 1e9}).floor_seconds(1e9) == pytest.approx(1.0)


def test_within_a_cache_that_cache_counts():
    assert Ceilings({1 << 10: 1e12, 1 << 20: 1e9}).floor_seconds(1000) == pytest.approx(1e-9)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null"])
def test_a_damaged_file_of_ceilings_is_measured_again(tmp_path, monkeypatch, text):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    (tmp_path / "ceilings.json").write_text(text)
    assert _read() == {}


def test_a_time_below_the_floor_is_not_believed(small_judge, eight_task, monkeypatch):
    """An honest kernel on a machine that is said to move one byte a second, however often it is asked."""
    monkeypatch.setattr(small_judge, "_ceilings", SLOW)
    monkeypatch.setattr(small_judge, "raise_ceilings", lambda: SLOW)
    verdict = small_judge.judge(eight_task, EIGHT)
    assert verdict.status is Status.INVALID_PHYSICS
    assert verdict.stage == "physics"
    assert not verdict.accepted
    assert verdict.speedup == {}
    assert verdict.time_ms == {}
    assert verdict.evidence["claimed_ms"] < verdict.evidence["floor_ms"]


def test_ceilings_measured_on_a_busy_machine_reject_nobody(small_judge, eight_task, monkeypatch):
    monkeypatch.setattr(small_judge, "_ceilings", SLOW)
    assert small_judge.judge(eight_task, EIGHT).status is Status.CORRECT


def test_of_two_measurements_the_better_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    speeds = iter([{"10": 5.0, "20": 3.0}, {"10": 4.0, "20": 6.0}])
    monkeypatch.setattr(_ceilings, "_measure", lambda template: next(speeds))
    assert _ceilings.load(None).bytes_per_second == {10: 5.0, 20: 3.0}
    assert _ceilings.raise_again(None).bytes_per_second == {10: 5.0, 20: 6.0}
    assert _ceilings.load(None).bytes_per_second == {10: 5.0, 20: 6.0}
