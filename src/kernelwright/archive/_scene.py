"""What a strategy looks at when it chooses: the elites, the history, and what is under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from kernelwright.archive._cell import CELLS, Cell, Direction, distance, lies_that_way
from kernelwright.archive._choice import Choice
from kernelwright.archive._entry import Entry
from kernelwright.archive._ranks import ranks
from kernelwright.archive._transitions import Tallies, Transitions


@dataclass(frozen=True)
class Scene:
    """At least one elite, and what is known about all of them.

    Args:
        pending: Choices made before that have not come back.
        bottlenecks: What holds an elite back, by its hash, where a profiler said so.
        built_on: How many results there are of each kernel, by its hash.
    """

    elites: Mapping[Cell, Entry]
    history: Transitions
    pending: tuple[Choice, ...] = ()
    bottlenecks: Mapping[str, str] = field(default_factory=dict)
    built_on: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def cells(self) -> list[Cell]:
        """The filled ones, in an order that does not depend on who came first."""
        return sorted(self.elites)

    @cached_property
    def ranks(self) -> dict[Cell, float]:
        return ranks({cell: self.elites[cell].log_speedup for cell in self.cells})

    @cached_property
    def tallies(self) -> Tallies:
        return self.history.tallies()

    def children(self, cell: Cell) -> int:
        """How often its elite was built on, counting what has not come back."""
        elite = self.elites[cell].candidate
        return self.built_on.get(elite, 0) + sum(choice.parent == elite for choice in self.pending)

    def room(self, cell: Cell, direction: Direction) -> float:
        """How much is left to win that way, 0 to 1: 1 where every cell is empty, near cells counting most."""
        there = _that_way(cell, direction)
        won = sum(nearness * self.ranks.get(other, 0.0) for other, nearness in there.items())
        return 1 - won / sum(there.values())

    def choice(self, cell: Cell, direction: Direction, why: str) -> Choice:
        elite = self.elites[cell]
        return Choice(elite.candidate, cell, direction, why, elite.log_speedup)


@cache
def _that_way(cell: Cell, direction: Direction) -> dict[Cell, float]:
    """The cells that way and how near each is: 1 over the steps to it."""
    return {other: 1 / max(1, distance(cell, other)) for other in CELLS if lies_that_way(cell, other, direction)}
