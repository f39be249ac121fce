"""The history: discounted by age, counted less from afar, bounded."""

import math

import pytest

from kernelwright.archive import WITHIN, Transitions
from kernelwright.archive._transitions import HALF_LIFE, MOST, nearby, overall
from tests.archive.made_up import went

HERE, NEXT, FAR = (1, 1, 1), (2, 1, 1), (3, 3, 1)
UP = ("memory", 1)


def test_a_tally_counts_what_was_tried_accepted_and_placed():
    history = Transitions()
    went(history, HERE, UP, 1, gain=None, placed=False)
    went(history, HERE, UP, 1, gain=0.5, placed=True)
    tally = history.tallies()[UP][HERE]
    assert tally.tried == pytest.approx(2, rel=0.01)
    assert (tally.placed, tally.accepted, tally.gain) == (1, 1, 0.5)


def test_what_is_a_half_life_old_counts_half():
    history = Transitions()
    went(history, HERE, UP, 1, gain=1.0, placed=True)
    went(history, FAR, WITHIN, HALF_LIFE, gain=None, placed=False)
    assert history.tallies()[UP][HERE] == pytest.approx((0.5, 0.5, 0.5, 0.5))


def test_what_happened_next_door_counts_half_and_other_directions_not_at_all():
    history = Transitions()
    went(history, NEXT, UP, 1, gain=1.0, placed=True)
    tallies = history.tallies()
    assert nearby(tallies, NEXT, UP).tried == 1
    assert nearby(tallies, HERE, UP).tried == 0.5
    assert nearby(tallies, FAR, UP).tried == math.exp2(-3)
    assert nearby(tallies, NEXT, WITHIN).tried == 0
    assert overall(tallies).tried == 1


def test_the_history_is_bounded_and_old_numbers_are_let_go():
    history = Transitions()
    went(history, HERE, UP, 1, gain=0.0, placed=False)
    went(history, FAR, WITHIN, MOST, gain=0.0, placed=False)
    assert len(history) == MOST
    assert UP not in history.tallies()
    history.correct(1, gain=1.0, placed=True)
    assert not any(each.placed for each in history)


def test_numbers_survive_json():
    history = Transitions()
    went(history, FAR, WITHIN, MOST + 5, gain=0.0, placed=False)
    back = Transitions.from_json(history.to_json())
    back.correct(MOST + 5, gain=1.0, placed=True)
    assert [each.placed for each in back].index(True) == MOST - 1
