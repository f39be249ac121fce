"""A bandit over (cell, direction), whose arms are worth what recorded transitions say.

Three terms, each between 0 and 1 and none in need of a scale: how fast a child would be, how often such a step makes an
elite, how little is known and how much is left that way. docs/archive.md has the formulas and the reasons.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from kernelwright.archive._cell import Cell, Direction, directions, distance, in_words, target
from kernelwright.archive._choice import Choice
from kernelwright.archive._context import factor
from kernelwright.archive._ranks import ranks
from kernelwright.archive._scene import Scene
from kernelwright.archive._transitions import Tally, nearby, overall
from kernelwright.archive.strategies._registry import register

FITNESS, RATE, EXPLORATION = 0.4, 0.4, 0.2
# A prior counts as much as so many transitions from the cell itself.
PRIOR = 2.0
# Of so many steps one is taken to have made an elite, before anything is known.
USUAL = 4.0
# How much more worth makes an arm e times as likely.
TEMPERATURE = 0.1
# Below this many transitions nearby there is nothing to tell a person.
TELLING = 0.75


@dataclass(frozen=True)
class Arm:
    """One direction from one cell, and what is known of it."""

    cell: Cell
    direction: Direction
    known: Tally
    pending: float


@register
def bandit(scene: Scene, rng: random.Random) -> Choice:
    return drawn(scene, arms_of(scene), rng)


def drawn(scene: Scene, arms: list[Arm], rng: random.Random) -> Choice:
    """One of these arms: the more it is worth, the likelier."""
    chances = [math.exp(worth / TEMPERATURE) for worth in worths(scene, arms)]
    arm = rng.choices(arms, chances)[0]
    return scene.choice(arm.cell, arm.direction, _why(scene, arm))


def arms_of(scene: Scene) -> list[Arm]:
    return [arm for cell in scene.cells for arm in arms_at(scene, cell)]


def arms_at(scene: Scene, cell: Cell) -> list[Arm]:
    return [
        Arm(cell, direction, nearby(scene.tallies, cell, direction), _pending(scene, cell, direction))
        for direction in directions(cell)
    ]


def _pending(scene: Scene, cell: Cell, direction: Direction) -> float:
    same = (choice for choice in scene.pending if choice.direction == direction)
    return sum(math.exp2(-distance(choice.cell, cell)) for choice in same)


def worths(scene: Scene, arms: list[Arm]) -> list[float]:
    total = overall(scene.tallies)
    usual = (total.placed + 1) / (total.tried + USUAL)
    fitness = ranks({place: _expected(scene, arm) for place, arm in enumerate(arms)})
    return [
        FITNESS * fitness[place] + RATE * _rate(scene, arm, usual) + EXPLORATION * _exploration(scene, arm)
        for place, arm in enumerate(arms)
    ]


def _expected(scene: Scene, arm: Arm) -> float:
    """Log speedup that a child may be expected to have: its parent's and the mean gain, shrunk towards none."""
    return scene.elites[arm.cell].log_speedup + arm.known.gain / (arm.known.accepted + PRIOR)


def _rate(scene: Scene, arm: Arm, usual: float) -> float:
    """How often such steps make elites against how often any does: a half where alike. What is pending made none."""
    prior = usual * factor(scene.bottlenecks.get(scene.elites[arm.cell].candidate), arm.direction)
    rate = (arm.known.placed + PRIOR * prior) / (arm.known.tried + arm.pending + PRIOR)
    return rate / (rate + usual)


def _exploration(scene: Scene, arm: Arm) -> float:
    """Half for being seldom tried, half for room that way."""
    seldom = 1 / math.sqrt(1 + arm.known.tried + arm.pending)
    return (seldom + scene.room(arm.cell, arm.direction)) / 2


def _why(scene: Scene, arm: Arm) -> str:
    elite = scene.elites[arm.cell]
    bottleneck = scene.bottlenecks.get(elite.candidate)
    held = f", held back by {bottleneck}" if bottleneck else ""
    step = f"The elite of cell {arm.cell} ({elite.speed}{held}), {in_words(arm.direction)}"
    return f"{step}: {_record(arm)}, {_there(scene, arm)}."


def _record(arm: Arm) -> str:
    known = arm.known
    if known.tried < TELLING:
        return "hardly tried here or nearby"
    gain = f" with a mean gain of {math.expm1(known.gain / known.accepted):+.0%}" if known.accepted else ""
    return f"of about {known.tried:.0f} such steps here and nearby {known.placed / known.tried:.0%} made an elite{gain}"


def _there(scene: Scene, arm: Arm) -> str:
    there = target(arm.cell, arm.direction)
    if there == arm.cell:
        return "and its own cell is to be won again"
    found = scene.elites.get(there) if there else None
    return f"and the elite there has {found.speed}" if found else "and the cell there is empty"
