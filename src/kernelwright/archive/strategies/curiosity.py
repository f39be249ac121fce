"""Parents whose children became elites, and directions where the map is still empty.

A parent's curiosity score goes up by one with every child that became an elite and down by a half with every other, as
in Cully and Demiris (2018), but fades with age. It belongs to the cell: its next elite inherits it.
"""

from __future__ import annotations

import random

from kernelwright.archive._cell import WITHIN, Cell, Direction, directions, in_words
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register

REWARD, PENALTY = 1.0, 0.5
START, LEAST = 1.0, 0.1


@register
def curiosity(scene: Scene, rng: random.Random) -> Choice:
    scores = _scores(scene)
    cell = rng.choices(scene.cells, [max(LEAST, scores[cell]) for cell in scene.cells])[0]
    ways = directions(cell)
    # A little more than the room, so that a full map still leaves something to draw from.
    direction = rng.choices(ways, [LEAST + scene.room(cell, way) for way in ways])[0]
    why = (
        f"Cell {cell} has a curiosity score of {scores[cell]:.1f} ({START:.0f} is where all begin), "
        f"with {scene.room(cell, direction):.0%} still to be won {_where(direction)}."
    )
    return scene.choice(cell, direction, why)


def _where(direction: Direction) -> str:
    return "within the cell" if direction == WITHIN else in_words(direction)


def _scores(scene: Scene) -> dict[Cell, float]:
    scores = dict.fromkeys(scene.cells, START)
    for starts in scene.tallies.values():
        for cell, tally in starts.items():
            if cell in scores:
                scores[cell] += REWARD * tally.placed - PENALTY * (tally.tried - tally.placed)
    return scores
