"""What a selection strategy is worth on made-up landscapes: best speedup and QD score at equal numbers of results.

A landscape gives every axis a level where it pays most, at random, and every cell a potential; a child lands where it
was asked to go more often than not, loses something by moving, gains a little by chance, and fails a third of the time.
No kernel runs and no model is asked: this compares strategies, it promises no speedup. Takes about half a minute.

    python benchmarks/bench_selection.py [SEEDS]
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from dataclasses import replace

from kernelwright.archive import (
    AXES,
    CELLS,
    FREELY,
    LEVELS,
    Archive,
    Cell,
    Choice,
    Entry,
    Outcome,
    Repair,
    Scene,
    Selector,
    Transitions,
    directions,
    register,
    strategy_names,
    target,
)
from kernelwright.archive.strategies.promising import promising

RESULTS = (50, 100, 200)
NOISE = 0.02
FAILING, OBEYING = 0.35, 0.6
MOVING, TRYING = 0.15, 0.12


@register
def forgetful(scene: Scene, rng: random.Random) -> Choice:
    """The default without its history: what is left is who is built on, room and what is pending."""
    return promising(replace(scene, history=Transitions()), rng)


class Landscape:
    """What is possible in each cell, and a writer who seldom reaches it."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        peaks = [(rng.randrange(LEVELS), rng.uniform(0.1, 0.5)) for _ in AXES]
        self._potential = {
            cell: sum(-weight * abs(level - peak) for level, (peak, weight) in zip(cell, peaks, strict=True))
            + rng.gauss(1.0, 0.1)
            for cell in CELLS
        }
        self._truth: dict[str, float] = {}

    def write(self, choice: Choice | Repair | None) -> tuple[str, Cell] | None:
        """A new kernel and its cell; None when it failed."""
        asked = choice.asked if isinstance(choice, Repair) else choice
        if self._rng.random() < FAILING:
            return None
        start, slack = (0, 0, 0), 1.0
        if asked is not None:
            start, slack = asked.cell, self._potential[asked.cell] - self._truth[asked.parent]
        cell = self._landing(start, asked)
        slack += MOVING * (cell != start) + self._rng.gauss(0, TRYING)
        candidate = f"k{len(self._truth)}"
        self._truth[candidate] = self._potential[cell] - max(0.0, slack)
        return candidate, cell

    def _landing(self, start: Cell, asked: Choice | None) -> Cell:
        steered = asked is not None and asked.direction != FREELY
        obeyed = steered and self._rng.random() < OBEYING
        direction = asked.direction if asked and obeyed else self._rng.choice(directions(start))
        return target(start, direction) or start

    def measure(self, candidate: str, cell: Cell) -> Entry:
        found = self._truth[candidate] + self._rng.gauss(0, NOISE / 2)
        return Entry(candidate, cell, found, found - NOISE, found + NOISE)

    def best(self, archive: Archive) -> float:
        """How fast the elites truly are, the fastest of them."""
        return max((self._truth[elite.candidate] for elite in archive.elites.values()), default=-math.inf)


def search(strategy: str, seed: int) -> dict[str, list[float]]:
    """Best true log speedup and QD score after so many results, and milliseconds a choice."""
    rng = random.Random(seed)
    land, archive, selector = Landscape(random.Random(-seed - 1)), Archive(), Selector(strategy)
    found: dict[str, list[float]] = {"best": [], "qd": [], "ms": []}
    spent = 0.0
    for number in range(1, max(RESULTS) + 1):
        begun = time.perf_counter()
        choice = selector.choose(archive, rng)
        spent += time.perf_counter() - begun
        answer(land, archive, choice, number)
        if number in RESULTS:
            found["best"].append(land.best(archive))
            found["qd"].append(archive.qd_score)
            found["ms"].append(spent / number * 1e3)
    return found


def answer(land: Landscape, archive: Archive, choice: Choice | Repair | None, number: int) -> None:
    written = land.write(choice)
    if written is None:
        archive.failed(f"b{number}", 0.5, choice)
        return
    candidate, cell = written
    if archive.offer(land.measure(candidate, cell), choice) is Outcome.CONTESTED:
        elite = archive.elites[cell]
        archive.settle(cell, candidate, land.measure(elite.candidate, cell), land.measure(candidate, cell))


def line(name: str, found: list[dict[str, list[float]]], plain: list[dict[str, list[float]]]) -> str:
    """Means, and the difference from `uniform` on the same landscapes with its 95 % interval."""
    cells = [name]
    for measure, digits in (("best", 3), ("qd", 1)):
        for place, _ in enumerate(RESULTS):
            values = [each[measure][place] for each in found]
            gaps = [mine - its[measure][place] for mine, its in zip(values, plain, strict=True)]
            margin = 1.96 * statistics.stdev(gaps) / math.sqrt(len(gaps))
            cells.append(
                f"{statistics.mean(values):.{digits}f} ({statistics.mean(gaps):+.{digits}f} ± {margin:.{digits}f})"
            )
    return "| " + " | ".join([*cells, f"{max(each['ms'][-1] for each in found):.1f}"]) + " |"


def main(seeds: int) -> None:
    runs = {name: [search(name, seed) for seed in range(seeds)] for name in strategy_names()}
    heads = ["strategy", *(f"best at {n}" for n in RESULTS), *(f"QD score at {n}" for n in RESULTS), "ms a choice"]
    print(f"{seeds} landscapes; log speedups; in brackets the difference from uniform, 95 % interval")
    print("| " + " | ".join(heads) + " |")
    print("|" + " --- |" * len(heads))
    for name, found in runs.items():
        print(line(name, found, runs["uniform"]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
