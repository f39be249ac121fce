"""The family of three ways: whoever goes over to another begins plainly there."""

from __future__ import annotations

import random
from collections import Counter

from kernelwright.propose import Request, parse
from tests.simulated import FAMILIES
from tests.simulated._family import Member
from tests.simulated.model import SimulatedModel

FAMILY = FAMILIES["linear"]
PLAINEST = {name: values[0] for name, values in FAMILY.choices.items()}


def member(**answers: str) -> Member:
    found = FAMILY.member(PLAINEST | {name.replace("_", " "): answer for name, answer in answers.items()})
    assert found is not None
    return found


TUNED = member(team="static", dots_shape="lanes16", dots_sums="4", dots_rows="2")


def test_what_another_way_is_asked_is_answered_plainly():
    assert FAMILY.member(PLAINEST | {"rows deep": "4"}) is None
    assert all(FAMILY.settled(FAMILY.answers(one)) == FAMILY.answers(one) for one in FAMILY.whole)


def test_going_over_to_another_way_is_one_change_and_what_was_tuned_is_gone():
    assert FAMILY.begun(TUNED, member(way="tiles", tiles_high="8")) == member(way="tiles", team="static")
    assert FAMILY.changes(TUNED, member(way="tiles", team="static")) == 1
    assert FAMILY.changes(TUNED, member(way="tiles", team="static", tiles_high="8", tiles_shape="simd")) == 3
    assert FAMILY.changes(member(way="tiles", team="static"), TUNED) == 4
    assert FAMILY.changes(TUNED, TUNED) == 0


def test_a_family_of_one_way_counts_answers_that_differ():
    family = FAMILIES["matmul"]
    rng = random.Random(2)
    for _ in range(50):
        one, other = rng.sample(family.whole, 2)
        differing = sum(mine != its for mine, its in zip(one.answers, other.answers, strict=True))
        assert family.changes(one, other) == differing


def test_the_model_goes_over_now_and_then_and_tunes_there_in_the_same_stroke_even_more_seldom():
    """Stays with its way or leaves it, and by how many changes."""
    model, source = SimulatedModel(FAMILY, seed=4), FAMILY.source(TUNED)
    found: Counter[tuple[bool, int]] = Counter()
    for number in range(600):
        reply = model.propose(Request(id=str(number), prompt="", kind="improve", backend="cpp", parent=source))
        child = FAMILY.recognised(str(parse(reply.text, source).source)).mended
        found[child.answers[0] == TUNED.answers[0], FAMILY.changes(TUNED, child)] += 1
    assert found[True, 1] > found[False, 1] > found[False, 2] > 0
    assert max(changes for _, changes in found) == 3
