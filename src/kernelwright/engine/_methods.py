"""Ways to search, by name. A method is a function: it looks at the archive and says what to ask for next.

All keep the same archive, so that they differ in nothing but the choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kernelwright.archive import DEFAULT_STRATEGY, FREELY, Archive, Choice, Entry, Repair, Selector
from kernelwright.engine._names import check_name

Step = Choice | Repair | None
Pending = Sequence[Choice | Repair]
# What holds elites back, by hash, in the archive's words.
Bottlenecks = Mapping[str, str]

NOTHING_KNOWN: Bottlenecks = {}
# How map-elites chose in runs that do not say: such a run is resumed and replayed as it was begun.
EARLIER_STRATEGY = "bandit"
# What takes a strategy's place without gradients: it chooses elites by the same rule.
UNGUIDED = {"promising": "unsteered", "foremost": "aimless"}
WIDTH = 4


class Method(Protocol):
    """Says what to ask for next. `pending`: what was asked for and has not come back."""

    def __call__(
        self, archive: Archive, rng: random.Random, pending: Pending, bottlenecks: Bottlenecks = ..., /
    ) -> Step: ...


def map_elites(strategy: str = DEFAULT_STRATEGY) -> Method:
    """An elite of some cell, in some direction; now and then a repair."""
    selector = Selector(strategy)
    return lambda archive, rng, pending, bottlenecks=NOTHING_KNOWN: selector.choose(
        archive, rng, pending=pending, bottlenecks=bottlenecks
    )


def best_of_n() -> Method:
    """Draft after draft, none knowing of the others."""
    return lambda archive, rng, pending, bottlenecks=NOTHING_KNOWN: None


def refine() -> Method:
    """The best so far, again and again; before there is one, what failed last."""

    def next_step(
        archive: Archive, rng: random.Random, pending: Pending, bottlenecks: Bottlenecks = NOTHING_KNOWN
    ) -> Step:
        if archive.best is None:
            return archive.pool.next({each.parent for each in pending if isinstance(each, Repair)})
        return _improve(archive.best, "it is the best so far")

    return next_step


def beam(width: int = WIDTH) -> Method:
    """The few best, in turn; before there is one, what failed last."""

    def next_step(
        archive: Archive, rng: random.Random, pending: Pending, bottlenecks: Bottlenecks = NOTHING_KNOWN
    ) -> Step:
        best = sorted(archive.elites.values(), key=lambda elite: -elite.log_speedup)[:width]
        if not best:
            return archive.pool.next({each.parent for each in pending if isinstance(each, Repair)})
        busy = [each.parent for each in pending]
        least = min(best, key=lambda elite: (busy.count(elite.candidate), rng.random()))
        return _improve(least, f"it is among the best {len(best)}")

    return next_step


def _improve(entry: Entry, why: str) -> Choice:
    """As it was published: a kernel, and what the judge said of it."""
    return Choice(entry.candidate, entry.cell, FREELY, why, entry.log_speedup)


METHODS: dict[str, Callable[[], Method]] = {
    "map-elites": map_elites,
    "best-of-n": best_of_n,
    "refine": refine,
    "beam": beam,
}


def method(name: str, *, strategy: str = DEFAULT_STRATEGY, without: Sequence[str] = ()) -> Method:
    """The method of this name; map-elites by this strategy, or `without` gradients by one that knows no transitions."""
    check_name("search", name, METHODS)
    if name == "map-elites":
        return map_elites(UNGUIDED.get(strategy, "fitness") if "gradients" in without else strategy)
    return METHODS[name]()
