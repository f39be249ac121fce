"""Searches held against each other at equal budget: who is ahead, by how much, and what could not be compared.

Only runs that are alike in everything but what is compared stand beside each other; within those, the same seed with
the same seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelwright.report._course import Course
from kernelwright.report._difference import Block, Difference, Paired, Unpaired, difference

# Where a budget is not counted in whole numbers, a curve is looked at in so many places.
POINTS = 200
QUARTERS = (0.25, 0.5, 0.75, 1.0)
COMPARABLE = ("method", "seeding", "without", "model", "backend")
MEASURES = ("area", "final")
Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Gap:
    """How far the first way is ahead of the second, in log speedup."""

    first: str
    second: str
    area: Difference
    final: Difference


@dataclass(frozen=True)
class Place:
    """Runs alike in everything but what is compared: one task, one judge, one device.

    Args:
        facts: What they are alike in. `budget`: what the shortest of them, `shortest`, has spent.
        nothing: What counts while nothing is accepted: the slowest kernel that any of these runs accepted first.
        whole: Whether the budget is counted in whole numbers.
    """

    facts: Facts
    runs: Mapping[str, tuple[Course, ...]]
    budget: float
    shortest: str
    nothing: float
    whole: bool

    @property
    def name(self) -> str:
        return dict(self.facts)["task"]

    def points(self) -> list[float]:
        if self.whole:
            return [float(number) for number in range(1, int(self.budget) + 1)]
        return [self.budget * number / POINTS for number in range(1, POINTS + 1)]

    def curve(self, course: Course) -> list[float]:
        return [self._at(course, point) for point in self.points()]

    def _at(self, course: Course, point: float) -> float:
        best = course.best_at(point)
        return self.nothing if best is None else best

    def area(self, course: Course) -> float:
        """Under the curve, over the budget: the mean of the best so far."""
        return float(np.mean(self.curve(course)))

    def final(self, course: Course) -> float:
        return self._at(course, self.budget)

    def quarters(self, way: str) -> list[float]:
        """The best so far of a way at quarters of the budget, mean over its runs."""
        return [float(np.mean([self._at(one, self.budget * part) for one in self.runs[way]])) for part in QUARTERS]

    def mean_area(self, way: str) -> float:
        return float(np.mean([self.area(one) for one in self.runs[way]]))

    def mean_curve(self, way: str) -> list[float]:
        return [float(value) for value in np.mean([self.curve(one) for one in self.runs[way]], axis=0)]

    def block(self, first: str, second: str, measure: str) -> Block | None:
        """The two ways here, by seed where they share one; None where one of them was not tried here."""
        if first not in self.runs or second not in self.runs:
            return None
        mine, theirs = self._by_seed(first, measure), self._by_seed(second, measure)
        shared = sorted(set(mine) & set(theirs))
        if shared:
            return Paired(tuple(mine[seed] - theirs[seed] for seed in shared))
        return Unpaired(*(tuple(side[seed] for seed in sorted(side)) for side in (mine, theirs)))

    def _by_seed(self, way: str, measure: str) -> dict[int, float]:
        """Runs of one way and seed are one, and their mean counts."""
        found: dict[int, list[float]] = defaultdict(list)
        for one in self.runs[way]:
            found[one.seed].append(self.area(one) if measure == "area" else self.final(one))
        return {seed: float(np.mean(values)) for seed, values in found.items()}

    def alone(self, first: str, second: str) -> list[int]:
        """Seeds that only one of the two has, where they share others."""
        mine, theirs = ({one.seed for one in self.runs[way]} for way in (first, second))
        return sorted(mine ^ theirs) if mine & theirs else []


@dataclass(frozen=True)
class Comparison:
    """Ways to search, the first of which is held against the others. `remarks`: what was left out, and why."""

    ways: tuple[str, ...]
    places: tuple[Place, ...]
    remarks: tuple[str, ...]

    @cached_property
    def gaps(self) -> list[Gap]:
        """Over all places where both were tried."""
        found = [gap(self.places, self.ways[0], other) for other in self.ways[1:]]
        return [one for one in found if one is not None]


def gap(places: Sequence[Place], first: str, second: str) -> Gap | None:
    """None where the two were never tried in one place."""
    blocks = {
        measure: [block for place in places if (block := place.block(first, second, measure))] for measure in MEASURES
    }
    if not blocks["area"]:
        return None
    return Gap(first, second, difference(blocks["area"]), difference(blocks["final"]))


def compare(courses: Sequence[Course], by: Sequence[str], *, whole: bool) -> Comparison:
    """The way of the first run against each of the others. `whole`: the budget is counted in whole numbers."""
    kept = [one for one in courses if one.steps and one.spent > 0]
    places, hopeless = _places(kept, by, whole)
    ways = tuple(dict.fromkeys(way_of(one, by) for one in kept))
    told = [
        *_mixture(places),
        *_remarks(ways, places),
        *([f"all runs are of one way by {' and '.join(by)}: nothing to hold against it"] if len(ways) == 1 else []),
        *(f"run {one.run} is left out: nothing was judged in it" for one in courses if one not in kept),
        *(f"{name} is left out: no run of it had anything accepted" for name in hopeless),
        *_shortened(places),
        *_known(kept),
    ]
    return Comparison(ways, tuple(places), tuple(dict.fromkeys(told)))


def _places(courses: Sequence[Course], by: Sequence[str], whole: bool) -> tuple[list[Place], list[str]]:
    """Runs that are alike in everything else together; and the tasks of which nothing was accepted."""
    grouped: dict[Facts, dict[str, list[Course]]] = defaultdict(lambda: defaultdict(list))
    for one in courses:
        grouped[_circumstances(one, by)][way_of(one, by)].append(one)
    found = {facts: _place(facts, grouped[facts], whole) for facts in sorted(grouped)}
    hopeless = [dict(facts)["task"] for facts, place in found.items() if place is None]
    return [place for place in found.values() if place is not None], hopeless


def way_of(course: Course, by: Sequence[str]) -> str:
    """What is compared of a run, in words."""
    words = [value for name in by if name != "without" and (value := course.facts[name])]
    left_out = course.facts["without"] if "without" in by else ""
    return " ".join([*words, *([f"without {left_out}"] if left_out else [])]) or "everything"


def _circumstances(course: Course, by: Sequence[str]) -> Facts:
    return tuple((name, value) for name, value in course.facts.items() if name not in by)


def _place(facts: Facts, runs: Mapping[str, list[Course]], whole: bool) -> Place | None:
    every = [one for group in runs.values() for one in group]
    first = [best for one in every if (best := _first(one)) is not None]
    if not first:
        return None
    shortest = min(every, key=lambda one: (one.spent, one.run))
    ordered = {way: tuple(sorted(group, key=lambda one: (one.seed, one.run))) for way, group in runs.items()}
    return Place(facts, ordered, shortest.spent, shortest.run, min(first), whole)


def _first(course: Course) -> float | None:
    return next((step.best for step in course.steps if step.best is not None), None)


# What was not compared, and why


def _mixture(places: Sequence[Place]) -> Iterable[str]:
    """Says in what the runs differ that is not compared, and that they were kept apart."""
    varying: dict[str, list[str]] = defaultdict(list)
    for place in places:
        for name, value in place.facts:
            varying[name].append(value)
    for name, values in varying.items():
        different = sorted(set(values))
        if len(different) > 1:
            listed = "; ".join(value or NOTHING[name] for value in different)
            yield f"the runs are of {len(different)} different {PLURALS[name]} ({listed}): only alike ones are compared"


PLURALS = {
    "task": "tasks",
    "device": "devices",
    "judge": "judges",
    "backend": "backends",
    "model": "models",
    "method": "methods",
    "seeding": "kinds of beginning",
    "without": "sets of mechanisms",
}


# What stands for an empty value.
NOTHING = {"without": "nothing left out", "seeding": "not seeded"}


def _remarks(ways: Sequence[str], places: Sequence[Place]) -> Iterable[str]:
    for other in ways[1:]:
        if not any(ways[0] in place.runs and other in place.runs for place in places):
            yield f"{ways[0]} and {other} are not compared: no task was searched with both by one judge on one device"
            continue
        for place in places:
            yield from _apart(ways[0], other, place)


def _apart(first: str, second: str, place: Place) -> Iterable[str]:
    tried = [way for way in (first, second) if way in place.runs]
    if len(tried) == 1:
        missing = second if tried[0] == first else first
        yield f"{place.name}: left out for {first} against {second}, as no run of {missing} fits"
    if len(tried) < 2:
        return
    if isinstance(place.block(first, second, "area"), Unpaired):
        yield f"{place.name}: {first} and {second} have no seed in common, so their runs are not paired"
    elif lonely := place.alone(first, second):
        seeds = ", ".join(map(str, lonely))
        yield f"{place.name}: seeds {seeds} are left out for {first} against {second}: only one of the two has them"


def _shortened(places: Sequence[Place]) -> Iterable[str]:
    for place in places:
        longer = sum(one.spent > place.budget for runs in place.runs.values() for one in runs)
        if longer:
            end = f"{longer} longer runs count up to {place.budget:g}"
            yield f"{place.name}: run {place.shortest} is the shortest; {end}"


def _known(courses: Sequence[Course]) -> Iterable[str]:
    for one in courses:
        if one.known_before:
            yield f"run {one.run}: {one.known_before} candidates were judged for another run; they count all the same"
