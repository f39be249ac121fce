"""Faster elites more often, by rank: the best of n is drawn n times as often as the worst, whatever the speedups."""

from __future__ import annotations

import random

from kernelwright.archive._cell import directions, in_words
from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register


@register
def fitness(scene: Scene, rng: random.Random) -> Choice:
    cell = rng.choices(scene.cells, [scene.ranks[cell] for cell in scene.cells])[0]
    direction = rng.choice(directions(cell))
    elite = scene.elites[cell]
    place = 1 + sum(other.log_speedup > elite.log_speedup for other in scene.elites.values())
    why = f"Drawn by rank: number {place} of {len(scene.cells)} elites ({elite.speed}), {in_words(direction)}."
    return scene.choice(cell, direction, why)
