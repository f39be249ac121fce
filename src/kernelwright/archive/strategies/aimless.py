"""The elites that `foremost` builds on, in any direction: what is left of it without gradients."""

from __future__ import annotations

import random

from kernelwright.archive._cell import directions, in_words
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register
from kernelwright.archive.strategies.foremost import by_place


@register
def aimless(scene: Scene, rng: random.Random) -> Choice:
    cell = by_place(scene, rng)
    direction = rng.choice(directions(cell))
    why = f"The elite of cell {cell} ({scene.elites[cell].speed}), {in_words(direction)}, which was drawn at random."
    return scene.choice(cell, direction, why)
