"""Null candidates: answers that take no work. A task on which one of them passes can tell nothing about a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kernelwright.judge._compare import Yardstick
from kernelwright.judge._expected import Output, Trial
from kernelwright.judge._memory import Array, as_float

UNCHANGED = "an input, returned unchanged"

Null = Callable[[Array, Array, list[int]], Array]


def longer_axes(shape: list[int]) -> list[int]:
    """The axes that hold more than one element: along the others every mean is the answer itself."""
    return [size for size in shape if size > 1]


def _axis_mean(right: Array, other: Array, shape: list[int]) -> Array:
    grid = right.reshape(longer_axes(shape))
    return np.broadcast_to(grid.mean(axis=-1, keepdims=True), grid.shape).reshape(-1)


def _shuffled(right: Array, other: Array, shape: list[int]) -> Array:
    return np.roll(right, max(1, len(right) // 3))


def _half(right: Array, other: Array, shape: list[int]) -> Array:
    middle = len(right) // 2
    return np.concatenate([right[:middle], other[middle:]])


NULLS: dict[str, Null] = {
    "all zeros": lambda right, other, shape: np.zeros_like(right),
    "all ones": lambda right, other, shape: np.ones_like(right),
    "the mean of the answer": lambda right, other, shape: np.full_like(right, right.mean()),
    "the answer's mean along its last axis": _axis_mean,
    "the answer to other inputs": lambda right, other, shape: other,
    "the right numbers in the wrong places": _shuffled,
    "an answer whose second half is stale": _half,
}
# What it says of a task that one of them passes, beside that one does.
FLAWS: dict[str, tuple[str, ...]] = {
    "the mean of the answer": ("collapse", "statistic-passes"),
    "the answer's mean along its last axis": ("statistic-passes",),
    "the answer to other inputs": ("constant",),
    "the right numbers in the wrong places": ("order-free",),
    "an answer whose second half is stale": ("constant",),
    "an input, returned unchanged": ("identity",),
}
# On a single number these are the right answer itself.
NEED_MANY = frozenset(
    {
        "the mean of the answer",
        "the answer's mean along its last axis",
        "the right numbers in the wrong places",
    }
)


def passing(trial: Trial, other: Trial) -> list[str]:
    """The null candidates that would be accepted on `trial`."""
    return [name for name in NULLS if _passes_everywhere(name, trial, other)]


def flaws(passed: list[str]) -> tuple[str, ...]:
    """The names of a task's weaknesses, from the null candidates that pass on it."""
    return tuple(dict.fromkeys(["null-candidate", *(flaw for name in passed for flaw in FLAWS.get(name, ()))]))


def _passes_everywhere(name: str, trial: Trial, other: Trial) -> bool:
    pairs = zip(trial.expected.outputs, other.expected.outputs, strict=True)
    verdicts = [verdict for mine, theirs in pairs for verdict in _passes(name, mine, theirs)]
    return bool(verdicts) and all(verdicts)


def _passes(name: str, mine: Output, theirs: Output) -> Iterator[bool]:
    """Nothing where the null candidate makes no sense for this output."""
    right, other = mine.oracle.values, theirs.oracle.values
    if len(right) == 0 or len(right) != len(other) or (name in NEED_MANY and not _many(right)):
        return
    with np.errstate(invalid="ignore", over="ignore"):
        guess = NULLS[name](_plain(mine), _plain(theirs), mine.shape)
        stick = Yardstick(right, "float64") if mine.is_float else mine.oracle
        yield stick.measure(guess.astype(right.dtype)).within(mine.budget)


def _plain(output: Output) -> Array:
    return as_float(output.oracle.values, "float64") if output.is_float else output.oracle.values


def _many(values: Array) -> bool:
    return len(values) > 1


def equals_input(trial: Trial) -> bool:
    """Whether returning inputs unchanged would pass: every output is one. One that is handed through is no fault."""
    return all(_is_input(output, trial) for output in trial.expected.outputs)


def _is_input(output: Output, trial: Trial) -> bool:
    for index, leaf in enumerate(trial.inputs.leaves):
        if leaf["shape"] == output.shape and leaf["dtype"] == output.dtype:
            values = trial.inputs.values(index)
            if len(values) == len(output.plain) and output.oracle.measure(values).within(output.budget):
                return True
    return False
