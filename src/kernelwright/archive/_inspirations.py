"""Which other elites are worth showing beside a parent."""

from __future__ import annotations

import random
from collections.abc import Mapping

from kernelwright.archive._cell import Cell, distance
from kernelwright.archive._entry import Entry
from kernelwright.archive._ranks import ranks


def inspirations(elites: Mapping[Cell, Entry], cell: Cell, number: int, rng: random.Random) -> list[Entry]:
    """Near and good ones, drawn by rank over distance; the last of two or more comes from the farther half of the rest.

    A neighbour differs in one idea, which can be taken over; a stranger shows that things can be done otherwise.
    """
    worth = ranks({other: elite.log_speedup for other, elite in elites.items()})
    others = sorted(other for other in elites if other != cell)
    chosen: list[Cell] = []
    while others and len(chosen) < number:
        far = len(chosen) == number - 1 > 0
        field = _farther_half(others, cell) if far else others
        weights = [worth[other] if far else worth[other] / distance(other, cell) for other in field]
        chosen.append(rng.choices(field, weights)[0])
        others.remove(chosen[-1])
    return [elites[other] for other in chosen]


def _farther_half(others: list[Cell], cell: Cell) -> list[Cell]:
    ordered = sorted(others, key=lambda other: (-distance(other, cell), other))
    return ordered[: (len(ordered) + 1) // 2]
