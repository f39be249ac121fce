"""The elites that `promising` builds on, always as their writers see fit: what is left of it without gradients."""

from __future__ import annotations

import random

from kernelwright.archive._choice import Choice
from kernelwright.archive._scene import Scene
from kernelwright.archive.strategies._registry import register
from kernelwright.archive.strategies.promising import freely, most_promising


@register
def unsteered(scene: Scene, rng: random.Random) -> Choice:
    return freely(scene, most_promising(scene))
