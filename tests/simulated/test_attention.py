"""The family of causal attention: thousands of members, and samples of them are right."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations

import pytest

from kernelwright.judge import Judge, Status
from kernelwright.tasks import load_task
from tests.simulated import FAMILIES
from tests.simulated._family import SLIPS, Member, _slip_of

FAMILY = FAMILIES["attention"]
TASK = load_task(FAMILY.task)
Pairs = set[tuple[tuple[str, str], ...]]


def met_by(member: Member, size: int) -> Pairs:
    """So many of its answers, in every combination."""
    return set(combinations(FAMILY.answers(member).items(), size))


def covering(size: int) -> list[Member]:
    """Members, a few, in which so many answers meet in every way that goes together."""
    left: Pairs = set().union(*(met_by(member, size) for member in FAMILY.whole))
    rng, chosen = random.Random(5), []
    while left:
        chosen.append(max(rng.sample(FAMILY.whole, 200), key=lambda one: len(met_by(one, size) & left)))
        left -= met_by(chosen[-1], size)
    return chosen


def wrongly_judged(judge: Judge, members: Iterable[Member]) -> dict[str, str]:
    verdicts = {one.key: judge.judge(TASK, FAMILY.source(one), timed=False) for one in members}
    return {key: f"{one.status}: {one.message}" for key, one in verdicts.items() if one.status != Status.UNTIMED}


def test_it_is_large_and_asks_many_questions() -> None:
    assert 7 <= len(FAMILY.choices) <= 9
    assert all(2 <= len(values) <= 6 for values in FAMILY.choices.values())
    assert len(FAMILY.whole) >= 1500


def test_the_few_that_cover_all_answers_do() -> None:
    asked = {(name, value) for name, values in FAMILY.choices.items() for value in values}
    few = covering(1)
    assert {one for member in few for pair in met_by(member, 1) for one in pair} == asked
    assert len(few) < 10


def test_every_answer_is_right_in_some_member(open_judge: Judge) -> None:
    assert wrongly_judged(open_judge, covering(1)) == {}


@pytest.mark.slow
def test_every_pair_of_answers_is_right_in_some_member(open_judge: Judge) -> None:
    assert wrongly_judged(open_judge, covering(2)) == {}


def test_both_mistakes_are_found(open_judge: Judge) -> None:
    broken = [Member(one.answers, broken=True) for one in FAMILY.whole]
    slips = {slip: next(one for one in broken if _slip_of(one) == slip) for slip in SLIPS}
    statuses = [open_judge.judge(TASK, FAMILY.source(slips[slip]), timed=False).status for slip in SLIPS]
    assert statuses == [Status.COMPILE_ERROR, Status.WRONG_VALUE]


@pytest.mark.parametrize(
    "changed",
    [{"passes": "matrix", "blocks": "64"}, {"passes": "online", "blocks": "all"}, {"shape": "plain", "sums": "2"}],
)
def test_what_does_not_go_together_is_no_member(changed: dict[str, str]) -> None:
    plainest = {name: values[0] for name, values in FAMILY.choices.items()}
    assert FAMILY.member(plainest) is not None
    assert FAMILY.member(plainest | changed) is None
