"""The floor under every believable time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge import Status
from kernelwright.judge._ceilings import Ceilings, _read
from tests.judge.texts import EIGHT

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
def test_a_damaged_file_of_ceilings_is_measured_again(tmp_path, text):
    path = tmp_path / "ceilings.json"
    path.write_text(text)
    assert _read(path) == {}


def test_a_time_below_the_floor_is_not_believed(small_judge, eight_task, monkeypatch):
    """An honest kernel on a machine that is said to move one byte a second."""
    monkeypatch.setattr(small_judge, "_ceilings", Ceilings({1 << 28: 1.0}))
    verdict = small_judge.judge(eight_task, EIGHT)
    assert verdict.status is Status.INVALID_PHYSICS
    assert verdict.stage == "physics"
    assert not verdict.accepted
    assert verdict.speedup == {}
    assert verdict.time_ms == {}
    assert verdict.evidence["claimed_ms"] < verdict.evidence["floor_ms"]
