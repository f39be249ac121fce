"""A timetable: equal parts of what is left, and a promise that is kept on slow machines too."""

from __future__ import annotations

import math

import pytest

from kernelwright.cli._timetable import BESIDE, FEWEST, ONCE, SEARCH, SHORTEST, Timetable

SEARCHES, PROMISE = 6, 180.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def played(beside: list[float], *, promise: float = PROMISE) -> tuple[float, list[float]]:
    """How long searches took that need so much beside their own time, and what each of them was given."""
    clock = Clock()
    timetable, given = Timetable(len(beside), promise=promise, clock=clock), []
    for more in beside:
        if timetable.has_room():
            given.append(timetable.seconds())
            clock.now += given[-1] + more
            timetable.passed(given[-1], given[-1] + more)
    return clock.now - 1000.0, given


def test_where_all_goes_as_expected_every_search_gets_the_same() -> None:
    taken, given = played([ONCE + BESIDE, *[BESIDE] * (SEARCHES - 1)])
    assert given == pytest.approx([SEARCH] * SEARCHES)
    assert taken < PROMISE


def test_what_is_left_over_is_shared_by_those_that_follow() -> None:
    """What is found out once a machine was found out before."""
    taken, given = played([BESIDE] * SEARCHES)
    assert given[1:] == pytest.approx([SEARCH + ONCE / (SEARCHES - 1)] * (SEARCHES - 1))
    assert taken < PROMISE


@pytest.mark.parametrize("slower", [1.0, 1.2, 1.4, 1.6, 2.5, 4.0])
def test_the_promise_is_kept_on_a_slow_machine(slower: float) -> None:
    taken, given = played([slower * (ONCE + BESIDE), *[slower * BESIDE] * (SEARCHES - 1)])
    assert taken <= PROMISE
    assert given[0] >= SHORTEST
    assert (len(given) < SEARCHES) == (slower > 1.5)


def test_one_that_took_long_by_chance_does_not_keep_the_others_from_being_begun() -> None:
    _, given = played([ONCE + BESIDE, 3 * BESIDE, *[BESIDE] * 4])
    assert len(given) == SEARCHES


def test_without_a_promise_nothing_is_left_out() -> None:
    _, given = played([1000.0] * 3, promise=math.inf)
    assert given[1:] == [SHORTEST] * 2


def test_a_short_search_has_few_kernels() -> None:
    assert Timetable.kernels(SHORTEST) == FEWEST
    assert Timetable.kernels(3 * SHORTEST) > FEWEST
