"""Which configuration may be fast, going by those that were tried: a Gaussian process over the places of the choices.

Numbers that stand next to each other in a declaration are taken to be alike, words are not. How much each parameter
matters is what makes the times seen most likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# How far apart two choices of a parameter must be, in shares of its range, to tell little of each other.
REACHES = (0.2, 0.6, 2.0, 8.0)
NOISE = 0.01
# The logistic curve of this steepness is the normal distribution to within a hundredth.
STEEPNESS = 1.702


class Guess:
    """What to expect of untried configurations.

    Args:
        sizes: How many choices every parameter has.
        ordered: Whether its choices are numbers.
    """

    def __init__(self, sizes: Sequence[int], ordered: Sequence[bool]) -> None:
        self._scale = np.array([max(1, size - 1) for size in sizes], dtype=float)
        self._ordered = np.array(ordered)
        self._reaches = np.full(len(sizes), REACHES[1])
        self._seen = np.empty((0, len(sizes)))
        self._values = np.empty(0)

    def learn(self, places: Sequence[Sequence[int]], values: Sequence[float]) -> None:
        """All that is known so far: places of the choices, and what came of them. Smaller is better."""
        self._seen, self._values = np.array(places, dtype=float), np.array(values)
        self._apart = self._distances(self._seen, self._seen)
        for parameter in range(len(self._scale)):
            self._reaches[parameter] = max(REACHES, key=lambda reach: self._likelihood(parameter, reach))

    def promising(self, places: Sequence[Sequence[int]], number: int) -> list[int]:
        """Which of these to try next, the most promising first. Each is chosen as if the ones before had been tried."""
        others = np.array(places, dtype=float)
        to_seen = self._distances(others, self._seen)
        values = self._values
        chosen: list[int] = []
        covariance, across = self._likeness(self._apart), self._likeness(to_seen)
        for _ in range(min(number, len(others))):
            mean, deviation = _expected(covariance, across, values)
            gain = _expected_improvement(mean, deviation, float(values.min()))
            gain[chosen] = -math.inf
            pick = int(np.argmax(gain))
            chosen.append(pick)
            covariance, across = self._with(covariance, across, others, pick)
            values = np.append(values, mean[pick])
        return chosen

    def _with(self, covariance: Array, across: Array, others: Array, pick: int) -> tuple[Array, Array]:
        """The matrices with one more configuration among the seen."""
        column = self._likeness(self._distances(others, others[pick : pick + 1]))
        border = across[pick]
        grown = np.block([[covariance, border[:, None]], [border[None, :], np.ones((1, 1))]])
        return grown, np.hstack([across, column])

    def _distances(self, these: Array, those: Array) -> Array:
        """How far apart, by parameter."""
        apart = np.abs(these[:, None, :] - those[None, :, :]) / self._scale
        distances: Array = np.where(self._ordered, apart, apart > 0)
        return distances

    def _likeness(self, apart: Array) -> Array:
        likeness: Array = np.exp(-(apart / self._reaches).sum(axis=2))
        return likeness

    def _likelihood(self, parameter: int, reach: float) -> float:
        """Of the values seen, were this the parameter's reach."""
        kept = self._reaches[parameter]
        self._reaches[parameter] = reach
        likeness = self._likeness(self._apart)
        self._reaches[parameter] = kept
        values = _standard(self._values)[0]
        lower = np.linalg.cholesky(likeness + NOISE * np.eye(len(values)))
        solved = np.linalg.solve(lower, values)
        return float(-0.5 * solved @ solved - np.log(np.diag(lower)).sum())


def _standard(values: Array) -> tuple[Array, float, float]:
    centre, spread = float(values.mean()), float(values.std()) or 1.0
    return (values - centre) / spread, centre, spread


def _expected(covariance: Array, across: Array, values: Array) -> tuple[Array, Array]:
    standard, centre, spread = _standard(values)
    lower = np.linalg.cholesky(covariance + NOISE * np.eye(len(values)))
    solved = np.linalg.solve(lower, across.T)
    mean = solved.T @ np.linalg.solve(lower, standard)
    variance = np.maximum(1e-9, 1.0 - (solved**2).sum(axis=0))
    return mean * spread + centre, np.sqrt(variance) * spread


def _expected_improvement(mean: Array, deviation: Array, best: float) -> Array:
    """By how much each is expected to beat the best: both a low mean and a wide doubt are worth something."""
    ahead = (best - mean) / deviation
    density = np.exp(-0.5 * ahead**2) / math.sqrt(2 * math.pi)
    below = 1 / (1 + np.exp(-STEEPNESS * np.clip(ahead, -20, 20)))
    gain: Array = deviation * (ahead * below + density)
    return gain
