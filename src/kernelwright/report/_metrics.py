"""The metrics: correctness, fast_p, median and geometric mean over tasks, pass@k, and how sure each is.

A failure has no speedup. Where a metric needs a number for it, it takes 1.0, the speedup of keeping the original, and
says so in its name: `kept`. Intervals come from a bootstrap over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = (1.0, 1.2, 1.5, 2.0)
KEEPING_THE_ORIGINAL = 1.0
DRAWS = 2000
CONFIDENCE = 95.0
_SEED = 20260

Values = NDArray[np.float64]
Reduce = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """What became of one task: solved or not, and how many times faster where that was measured."""

    solved: bool
    ratio: float | None = None

    @property
    def untimed(self) -> bool:
        """Solved, and nobody knows how fast."""
        return self.solved and self.ratio is None


@dataclass(frozen=True)
class Estimate:
    """A metric over tasks with its 95 % interval."""

    value: float
    low: float
    high: float
    tasks: int


def estimate(values: Iterable[float], reduce: Reduce, *, draws: int = DRAWS) -> Estimate | None:
    """`reduce` over the tasks' values, and over tasks drawn again with replacement; None over no tasks at all."""
    seen: Values = np.asarray(list(values), dtype=np.float64)
    if not len(seen):
        return None
    picked = np.random.default_rng(_SEED).integers(len(seen), size=(draws, len(seen)))
    spread = reduce(np.sort(seen)[picked], axis=1)
    low, high = np.percentile(spread, [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2])
    return Estimate(float(reduce(seen, axis=0)), float(low), float(high), len(seen))


def geometric_mean(values: Values, axis: int = 0) -> Any:
    return np.exp(np.log(values).mean(axis=axis))


def correctness(outcomes: Sequence[Outcome]) -> Estimate | None:
    """Share of tasks that were solved."""
    return estimate([float(outcome.solved) for outcome in outcomes], np.mean)


def fast(outcomes: Sequence[Outcome], threshold: float) -> Estimate | None:
    """fast_p: share of tasks solved with a speedup above the threshold. Untimed tasks are left out."""
    return estimate([float(_faster(outcome, threshold)) for outcome in outcomes if not outcome.untimed], np.mean)


def _faster(outcome: Outcome, threshold: float) -> bool:
    return outcome.solved and outcome.ratio is not None and outcome.ratio > threshold


def kept(outcomes: Sequence[Outcome], reduce: Reduce) -> Estimate | None:
    """A mean of speedups in which a failure counts as keeping the original. Untimed tasks are left out."""
    return estimate([_kept(outcome) for outcome in outcomes if not outcome.untimed], reduce)


def _kept(outcome: Outcome) -> float:
    return outcome.ratio if outcome.solved and outcome.ratio is not None else KEEPING_THE_ORIGINAL


def of_solved(outcomes: Sequence[Outcome], reduce: Reduce) -> Estimate | None:
    """The same over solved tasks alone, to be read beside the number of failures."""
    return estimate([outcome.ratio for outcome in outcomes if outcome.solved and outcome.ratio is not None], reduce)


def pass_at(samples: int, right: int, k: int) -> float:
    """Chance that at least one of k samples, drawn from these without replacement, is right."""
    if not 0 <= right <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {right} right among {samples} samples has no meaning")
    return 1.0 - math.comb(samples - right, k) / math.comb(samples, k)


def usable_k(counts: Iterable[int]) -> tuple[int, ...]:
    """The k for which every task with samples has enough of them: 1, 2, 5, 10, 20, 50, 100."""
    fewest = min((count for count in counts if count), default=0)
    return tuple(k for k in (1, 2, 5, 10, 20, 50, 100) if k <= fewest)
