"""Every filled cell alike, every direction alike: what the others must beat."""

from __future__ import annotations

import random

from kernelwright.archive._cell import directions, in_words
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register


@register
def uniform(scene: Scene, rng: random.Random) -> Choice:
    cell = rng.choice(scene.cells)
    direction = rng.choice(directions(cell))
    why = f"Drawn at random among {len(scene.cells)} filled cells: {cell}, {in_words(direction)}."
    return scene.choice(cell, direction, why)
