"""Is a result right? Error is measured against the oracle in units of the local size of the answer.

The unit of an element is its own magnitude plus the RMS of its block: scale-free, so that a million tiny outputs
are judged as sharply as a million large ones, and an error where the answer is zero still counts. How much error is
allowed follows from the reference's own error on the same inputs, never from a constant somebody picked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.judge import _ruler
from kernelwright.judge._memory import Array, as_float
from kernelwright.judge._ruler import BLOCK

# A block of near zeros in a tensor of large numbers is judged in units of a thousandth of the tensor's RMS.
BLOCK_FLOOR = 1e-3
RMS_FACTOR, PEAK_FACTOR = 4.0, 8.0
# So many times over budget no condition of the inputs explains.
HOPELESS = 1e3

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
ACCUMULATOR = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-24, "bfloat16": 2.0**-24}
# Sixteen-bit results are computed wider and rounded once; float32 functions may be off by some units themselves.
FLOOR = {"float64": 2.0, "float32": 2.0, "float16": 0.6, "bfloat16": 0.6}
# A sum that begins with its largest term swallows all that are smaller than half its last digit: an element here and
# there may be off by as many roundings as there are terms. Up to half of what the next narrower format rounds by.
MOST_SWALLOWED = 4096
# An error below the smallest normal number is none: hardware may take such numbers for zero.
SMALLEST = {"float32": 2.0**-126 / ROUNDOFF["float32"], "bfloat16": 2.0**-126 / ROUNDOFF["bfloat16"]}
PRECISION_CLASS = {"strict": 0.0, "tf32": 2.0**-11, "fp16": 2.0**-11, "bf16": 2.0**-8}


@dataclass(frozen=True)
class Deviation:
    """How far a result is off, in local units."""

    rms: float
    peak: float

    def within(self, budget: Deviation) -> bool:
        """NaN is never within anything."""
        return self.rms <= budget.rms and self.peak <= budget.peak


EXACT = Deviation(0.0, 0.0)


def allowed(own: Deviation, dtype: str, reduction: float, precision: str) -> Deviation:
    """The budget, given the reference's own deviation and how many inputs feed one output."""
    floor = FLOOR[dtype] * ROUNDOFF[dtype] + ACCUMULATOR[dtype] * math.sqrt(reduction)
    swallowed = ACCUMULATOR[dtype] * min(reduction, MOST_SWALLOWED)
    extra = PRECISION_CLASS[precision]
    return Deviation(
        max(RMS_FACTOR * own.rms, floor) + 2 * extra,
        max(PEAK_FACTOR * own.peak, 5 * floor, swallowed) + 16 * extra,
    )


class Yardstick:
    """The right answer for one output tensor, ready to be held against many results."""

    def __init__(self, values: Array, dtype: str) -> None:
        self.dtype = dtype
        self.exact = dtype not in ROUNDOFF
        self.values = values if self.exact else as_float(values, dtype) if values.dtype.itemsize < 8 else values
        self._scales = None if self.exact else _scales(self.values, dtype)

    def measure(self, result: Array) -> Deviation:
        """`result` holds raw values of the same dtype, in order."""
        if self._scales is None:
            return EXACT if np.array_equal(result, self.values) else Deviation(math.inf, math.inf)
        total, peak = _ruler.deviation(as_float(result, self.dtype), self.values, self._scales)
        return Deviation(math.sqrt(total / max(1, len(self.values))), peak)

    def pardoned(self, result: Array, room: Array) -> Array:
        """The result with every element moved towards the right one by at most its `room`."""
        got = as_float(result, self.dtype).astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            gap = got - self.values
            return np.where(np.abs(gap) <= room, self.values, got - np.copysign(room, gap))

    def bad(self, result: Array, budget: Deviation) -> Array:
        """Which elements are off by more than the budget (by more than its RMS part if no peak stands out)."""
        if self._scales is None:
            return np.not_equal(result, self.values)
        error = _ruler.errors(as_float(result, self.dtype), self.values, self._scales)
        over: Array = ~(error <= budget.peak)
        return over if over.any() else ~(error <= budget.rms)


def smallest_scale(dtype: str, whole: float) -> float:
    """What a block's scale is at least, in a tensor of this RMS."""
    return max(BLOCK_FLOOR * whole, SMALLEST.get(dtype, 0.0), float(np.finfo(np.float32).tiny))


def _scales(values: Array, dtype: str) -> Array:
    """The RMS of every block."""
    sums = _ruler.square_sums(values)
    lengths = np.minimum(BLOCK, len(values) - BLOCK * np.arange(len(sums)))
    whole = math.sqrt(float(sums.sum()) / max(1, len(values)))
    scales: Array = np.maximum(np.sqrt(sums / lengths), smallest_scale(dtype, whole))
    return scales


def describe_bad(bad: Array, result: Array, stick: Yardstick, shape: list[int]) -> dict[str, Any]:
    """What a person needs to find the fault: how many, how far, where."""
    first = int(np.argmax(bad))
    number = int(np.count_nonzero(bad))
    got = as_float(result, stick.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(np.subtract(got, stick.values, dtype=np.float64))[bad]
    return {
        "bad_elements": number,
        "elements": len(bad),
        "bad_share": number / len(bad),
        "max_abs_error": _plain(gap.max()),
        "box": _box(bad.reshape(shape)),
        "first": {
            "index": [int(place) for place in np.unravel_index(first, shape)] if shape else [],
            "got": _plain(got[first]),
            "expected": _plain(stick.values[first]),
        },
    }


def _box(bad: Array) -> list[list[int]]:
    """Along each axis, the first and the last place where anything is bad."""
    box = []
    for axis in range(bad.ndim):
        others = tuple(other for other in range(bad.ndim) if other != axis)
        along = np.flatnonzero(bad.any(axis=others))
        box.append([int(along[0]), int(along[-1])])
    return box


def _plain(value: Any) -> float | int | bool | str:
    """A number JSON can hold; NaN and infinities by name."""
    number = value.item()
    return str(number) if isinstance(number, float) and not math.isfinite(number) else number
