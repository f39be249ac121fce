"""Scales, ticks and lines."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.report.page._chart import Scale, steps, thinned

RANGES = st.tuples(st.floats(1e-4, 1e4), st.floats(1.001, 1e6)).map(lambda pair: (pair[0], pair[0] * pair[1]))


@given(RANGES, st.booleans())
def test_ticks_lie_within_and_are_neither_many_nor_none(ends: tuple[float, float], logs: bool) -> None:
    low, high = ends
    ticks = Scale(low, high, 0, 100, logs=logs).ticks()
    assert 1 <= len(ticks) <= 9
    assert all(low * (1 - 1e-6) - 1e-9 <= tick <= high * (1 + 1e-6) for tick in ticks)


@pytest.mark.parametrize("most", [1, 2, 5, 40, 5000])
def test_counts_are_marked_by_whole_numbers(most: int) -> None:
    assert all(tick == int(tick) for tick in Scale(0, most, 0, 100, whole=True).ticks())


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.9, 11, [1, 2, 5, 10]),
        (0.01, 1000, [0.01, 0.1, 1, 10, 100, 1000]),
        (0.95, 1.3, [1.0, 1.1, 1.2, 1.3]),
    ],
)
def test_speedups_are_marked_by_round_ratios(low: float, high: float, ticks: list[float]) -> None:
    assert Scale(low, high, 0, 100, logs=True).ticks() == pytest.approx(ticks)


@given(RANGES, st.floats(0, 1))
def test_equal_ratios_are_equally_far_apart(ends: tuple[float, float], share: float) -> None:
    low, high = ends
    scale = Scale(low, high, 10, 20, logs=True)
    assert scale(low * math.exp(share * math.log(high / low))) == pytest.approx(10 + 10 * share, abs=1e-3)


def test_what_lies_outside_is_drawn_at_the_edge() -> None:
    scale = Scale(1, 2, 0, 100)
    assert (scale(-5), scale(50)) == (0, 100)


def test_a_line_of_steps_stays_until_the_next_point() -> None:
    assert steps([(0, 5), (10, 3)], 20) == "M0 5H10V3H20"


def test_of_points_on_one_pixel_the_last_counts() -> None:
    assert thinned([(1.0, 1), (1.01, 2), (9, 3)]) == [(1.01, 2), (9, 3)]
