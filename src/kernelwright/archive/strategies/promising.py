"""The default: the elite with most promise, first as its writer sees fit, then where the bandit says.

Whoever is fast promises something, and whoever was hardly built on: what is new in its cell may grow past a kernel that
nobody could improve in twenty tries. So a search climbs where it is fastest until that runs dry, and leaves it then.
"""

from __future__ import annotations

import random
from math import sqrt

from kernelwright.archive._cell import FREELY, Cell
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register
from kernelwright.archive.strategies.bandit import arms_at, drawn

# What is hoped for of an elite that nothing was built on yet: so many times what a child gains that gains anything.
HOPE = 4.0
# What such a child gains, in log speedup, before any is known; counts as much as two of them.
RISE, TRIALS = 0.4, 2.0
# Of so many children an elite's writers make what they like; the next are told where to go.
FREE_CHILDREN = 2


@register
def promising(scene: Scene, rng: random.Random) -> Choice:
    cell = most_promising(scene)
    return freely(scene, cell) if scene.children(cell) < FREE_CHILDREN else drawn(scene, arms_at(scene, cell), rng)


def most_promising(scene: Scene) -> Cell:
    """The first in the grid where several promise the same.

    Promised are log speedup and what may be hoped for on top of it, less with every child.
    """
    hope = HOPE * scene.history.usual_rise(RISE, TRIALS)
    return max(scene.cells, key=lambda cell: scene.elites[cell].log_speedup + hope / sqrt(1 + scene.children(cell)))


def freely(scene: Scene, cell: Cell) -> Choice:
    record = f"{scene.children(cell)} built on it so far, and none promises more"
    why = f"The elite of cell {cell} ({scene.elites[cell].speed}), {FREELY}: {record}."
    return scene.choice(cell, FREELY, why)
