"""One of the foremost elites, in a direction that the bandit draws for it.

Who is built on is decided first and by speed alone. A bandit over all cells and directions builds on the fastest in a
quarter to a third of its steps: slow cells are many, and easily improved.
"""

from __future__ import annotations

import random

from kernelwright.archive._cell import Cell
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register
from kernelwright.archive.strategies.bandit import arms_at, drawn

# The fastest elite is built on so many times as often as the second, that one as the third, and so on.
STEEPNESS = 4.0


@register
def foremost(scene: Scene, rng: random.Random) -> Choice:
    return drawn(scene, arms_at(scene, by_place(scene, rng)), rng)


def by_place(scene: Scene, rng: random.Random) -> Cell:
    """The cell to build on. What decides does not change when every speedup is squared."""
    fastest_first = sorted(scene.cells, key=lambda cell: -scene.elites[cell].log_speedup)
    return rng.choices(fastest_first, [STEEPNESS**-place for place in range(len(fastest_first))])[0]
