"""Ways to search: what each looks at, and what leaving a mechanism out really leaves out."""

import random
from collections import Counter

import pytest

from kernelwright.archive import FREELY, Archive, Choice, Entry
from kernelwright.archive.strategies.promising import FREE_CHILDREN
from kernelwright.engine._methods import method

HERE, THERE = (0, 0, 0), (3, 3, 3)


def archive(lesson: float) -> Archive:
    """Two elites; whoever started from the second has gained so much, thirty times."""
    made = Archive()
    for name, cell in (("here", HERE), ("there", THERE)):
        made.offer(Entry(name, cell, 0.1, 0.1, 0.1))
    for number in range(30):
        asked = Choice("there", THERE, ("memory", -1), "", 0.1)
        made.offer(Entry(f"child {number}", (2, 3, 3), 0.1 + lesson + number / 1000, -9.0, 9.0), asked)
    for cell, elite in made.elites.items():
        for number in range(FREE_CHILDREN):
            made.failed(f"{number} of {elite.candidate}", None, Choice(elite.candidate, cell, FREELY, "", 0.1))
    return made


def chosen(made: Archive, **how) -> Counter:
    steps = [method("map-elites", **how)(made, random.Random(number), ()) for number in range(200)]
    return Counter((step.parent, step.direction) for step in steps if isinstance(step, Choice))


def test_what_came_of_earlier_steps_sways_the_choice_and_without_gradients_it_does_not():
    good, bad = archive(lesson=1.0), archive(lesson=-1.0)
    good._elites, bad._elites = dict(good.elites), dict(good.elites)  # the same elites, two histories
    assert chosen(good) != chosen(bad)
    assert chosen(good, without=("gradients",)) == chosen(bad, without=("gradients",))


def test_without_gradients_the_same_elites_are_built_on_as_often():
    made = archive(lesson=1.0)
    with_them, without = (
        Counter(parent for parent, _ in chosen(made, **how).elements()) for how in ({}, {"without": ("gradients",)})
    )
    assert with_them == without


def test_the_strategy_that_is_named_decides():
    made = archive(lesson=1.0)
    assert chosen(made, strategy="uniform") != chosen(made) != chosen(made, strategy="bandit")


def test_drafts_know_nothing_of_each_other():
    assert method("best-of-n")(archive(1.0), random.Random(0), ()) is None


@pytest.mark.parametrize("name", ["refine", "beam"])
def test_who_climbs_begins_with_what_failed(name):
    made = Archive()
    assert method(name)(made, random.Random(0), ()) is None
    made.failed("broken", 0.7)
    step = method(name)(made, random.Random(0), ())
    assert step is not None
    assert step.parent == "broken"


def test_a_beam_spreads_over_the_best():
    made = archive(1.0)
    first = method("beam")(made, random.Random(0), ())
    assert isinstance(first, Choice)
    second = method("beam")(made, random.Random(0), [first])
    assert isinstance(second, Choice)
    assert second.parent != first.parent
