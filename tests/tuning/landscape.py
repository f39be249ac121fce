"""A made-up machine: how long each configuration takes is a formula, and every round has its own noise."""

import math
import random
from collections.abc import Mapping, Sequence

from kernelwright.tuning import Configuration, Lap, Space, read_template

LIMITS = {"CORES": 2, "L1_BYTES": 32768}


def made_up_space(sizes: Sequence[int]) -> Space:
    """So many values of each parameter."""
    lines = [f"P{place} = 0  # tune: 0..{size - 1}" for place, size in enumerate(sizes)]
    names = ", ".join(f"P{place}" for place in range(len(sizes)))
    return Space(read_template("\n".join([*lines, f"print({names})"]) + "\n"), LIMITS)


class Landscape:
    """A racer. Every parameter has a best place and some pairs of them work together; other cases, other places.

    Attributes:
        asked: How many configurations were compiled.
    """

    def __init__(self, space: Space, *, seed: int, noise: float, cases: int = 1, broken: float = 0.0) -> None:
        self._space, self._noise, self._broken = space, noise, broken
        self._random = random.Random(seed)
        self.weights: Mapping[str, float] = {f"case{number}": 1.0 for number in range(cases)}
        sizes = [len(parameter.choices) for parameter in space.template.parameters]
        self._best = {case: [self._random.randrange(size) for size in sizes] for case in self.weights}
        self._slopes = [self._random.uniform(0.2, 1.0) / max(1, size - 1) for size in sizes]
        self._fails = {one for one in space.configurations[1:] if self._random.random() < broken}
        self.asked: set[Configuration] = set()

    def true(self, configuration: Configuration, case: str = "case0") -> float:
        """Seconds, without noise."""
        places = self._space.places(configuration)
        off = [abs(mine - best) for mine, best in zip(places, self._best[case], strict=True)]
        steps = sum(slope * apart for slope, apart in zip(self._slopes, off, strict=True))
        return 1e-3 * math.exp(steps + 0.3 * self._slopes[0] * off[0] * off[-1])

    def best(self, case: str = "case0") -> float:
        return min(self.true(one, case) for one in self._space.configurations if one not in self._fails)

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        return [self._lap(entrant, rounds) for entrant in entrants]

    def _lap(self, entrant: Configuration, rounds: int) -> Lap:
        build = 0.0 if entrant in self.asked else 0.3
        self.asked.add(entrant)
        if entrant in self._fails:
            return Lap(failure="COMPILE_ERROR: no", build=build)
        times = {case: tuple(self._noisy(self.true(entrant, case)) for _ in range(rounds)) for case in self.weights}
        pace = {case: tuple(self._noisy(1e-3) for _ in range(rounds)) for case in self.weights}
        return Lap(times=times, pace=pace, build=build, load=0.1, run=rounds * 0.01)

    def _noisy(self, seconds: float) -> float:
        return seconds * math.exp(self._random.gauss(0.0, self._noise))
