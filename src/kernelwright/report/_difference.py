"""How far two ways to search lie apart, and how sure that is: a bootstrap over tasks, then over seeds.

Knows numbers only. On few tasks nothing can be said about others, so there tasks stay as they are and only seeds are
drawn again: the interval then speaks of these tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

DRAWS = 4000
CONFIDENCE = 95.0
# From so many tasks on they are taken for a sample of tasks.
MANY = 5
_NORMAL = 1.96
# Student's quantiles of 97.5 % for 1, 2, ... degrees of freedom.
_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_SEED = 20261


@dataclass(frozen=True)
class Paired:
    """One task: by how much the first was ahead of the second, seed by seed."""

    gaps: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self.gaps)

    @property
    def freedom(self) -> int:
        return self.size - 1

    def mean(self) -> float:
        return float(np.mean(self.gaps))

    def drawn(self, number: int, rng: np.random.Generator) -> Values:
        return _means(self.gaps, number, rng)


@dataclass(frozen=True)
class Unpaired:
    """One task on which the two have no seed in common: what each reached."""

    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def size(self) -> int:
        """Of the smaller side: it is the one that decides how little is known."""
        return min(len(self.first), len(self.second))

    @property
    def freedom(self) -> int:
        return self.size - 1

    def mean(self) -> float:
        return float(np.mean(self.first) - np.mean(self.second))

    def drawn(self, number: int, rng: np.random.Generator) -> Values:
        return _means(self.first, number, rng) - _means(self.second, number, rng)


Block = Paired | Unpaired


@dataclass(frozen=True)
class Difference:
    """Mean over tasks of the mean over seeds. `low`, `high`: 95 %; None where one value says nothing of others.

    Attributes:
        sampled: Whether the interval speaks of tasks like these, or of these alone.
    """

    value: float
    low: float | None
    high: float | None
    tasks: int
    pairs: int
    sampled: bool

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def difference(blocks: Sequence[Block], *, draws: int = DRAWS) -> Difference:
    """Of at least one task. The seed is fixed: the same values give the same interval."""
    value, pairs = float(np.mean([block.mean() for block in blocks])), sum(block.size for block in blocks)
    sampled = len(blocks) >= MANY
    width = _width(blocks, sampled)
    if width is None:
        return Difference(value, None, None, len(blocks), pairs, sampled)
    spread = _spread(blocks, sampled, draws, np.random.default_rng(_SEED))
    low, high = value + (np.percentile(spread, _ENDS) - value) * width
    return Difference(value, min(value, float(low)), max(value, float(high)), len(blocks), pairs, sampled)


_ENDS = [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2]


def _width(blocks: Sequence[Block], sampled: bool) -> float | None:
    """How much wider than drawn: drawing from few again understates how far apart they lie. None where one is all."""
    fewest = len(blocks) if sampled else min(block.size for block in blocks)
    if fewest < 2:
        return None
    freedom = len(blocks) - 1 if sampled else sum(block.freedom for block in blocks)
    return math.sqrt(fewest / (fewest - 1)) * _student(freedom) / _NORMAL


def _student(freedom: int) -> float:
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL + 2.4 / freedom


def _spread(blocks: Sequence[Block], sampled: bool, draws: int, rng: np.random.Generator) -> Values:
    """The mean over tasks, drawn again so often."""
    number = len(blocks)
    picks = rng.integers(number, size=(draws, number)) if sampled else np.tile(np.arange(number), (draws, 1))
    means = np.empty((draws, number))
    for place, block in enumerate(blocks):
        chosen = picks == place
        means[chosen] = block.drawn(int(chosen.sum()), rng)
    found: Values = means.mean(axis=1)
    return found


def _means(values: Sequence[float], number: int, rng: np.random.Generator) -> Values:
    """Means of as many values drawn with replacement, so often."""
    seen = np.asarray(values, dtype=np.float64)
    found: Values = seen[rng.integers(len(seen), size=(number, len(seen)))].mean(axis=1)
    return found
