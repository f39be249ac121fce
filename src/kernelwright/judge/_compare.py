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

from kernelwright.judge._memory import Array, as_float

BLOCK = 4096
CHUNK = 16 * BLOCK
# A block of near zeros in a tensor of large numbers is judged in units of a thousandth of the tensor's RMS.
BLOCK_FLOOR = 1e-3
RMS_FACTOR, PEAK_FACTOR = 4.0, 8.0

ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
ACCUMULATOR = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-24, "bfloat16": 2.0**-24}
# Sixteen-bit results are computed wider and rounded once; float32 functions may be off by some units themselves.
FLOOR = {"float64": 2.0, "float32": 2.0, "float16": 0.6, "bfloat16": 0.6}
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
    extra = PRECISION_CLASS[precision]
    return Deviation(
        max(RMS_FACTOR * own.rms, floor) + 2 * extra,
        max(PEAK_FACTOR * own.peak, 5 * floor) + 16 * extra,
    )


class Yardstick:
    """The right answer for one output tensor, ready to be held against many results."""

    def __init__(self, values: Array, dtype: str) -> None:
        self.dtype = dtype
        self.exact = dtype not in ROUNDOFF
        self.values = values if self.exact else as_float(values, dtype) if values.dtype.itemsize < 8 else values
        self._special = None if self.exact else _special(self.values)
        self._unit = None if self.exact else _inverse_units(self.values)

    def measure(self, result: Array) -> Deviation:
        """`result` holds raw values of the same dtype, in order."""
        if self.exact:
            return EXACT if np.array_equal(result, self.values) else Deviation(math.inf, math.inf)
        if self._special is not None and not self._special_agree(result):
            return Deviation(math.inf, math.inf)
        total, peak, counted = 0.0, 0.0, 0
        for start in range(0, len(self.values), CHUNK):
            error = self._error(result[start : start + CHUNK], start)
            total += float(np.sum(error * error))  # not np.dot: its threads would outlive the call
            peak = max(peak, float(np.abs(error).max(initial=0.0)))
            counted += len(error)
        # Python's max drops a NaN; the sum does not.
        return Deviation(math.sqrt(total / max(1, counted)), peak if total == total else math.nan)

    def _error(self, part: Array, start: int) -> Array:
        assert self._unit is not None
        stop = start + len(part)
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite shows in the sum
            error = as_float(part, self.dtype) - self.values[start:stop]
            error *= self._unit[start:stop]
        if self._special is not None:
            error[self._special[start:stop]] = 0
        return error

    def _special_agree(self, result: Array) -> bool:
        """Infinities and NaNs stand exactly where they should, and are the same."""
        got = as_float(result, self.dtype)
        return np.array_equal(got[self._special], self.values[self._special], equal_nan=True)

    def bad(self, result: Array, budget: Deviation) -> Array:
        """Which elements are off by more than the budget (by more than its RMS part if no peak stands out)."""
        if self.exact:
            return np.not_equal(result, self.values)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(self._whole_error(result))
        over = ~(error <= budget.peak)
        return over if over.any() else ~(error <= budget.rms)

    def _whole_error(self, result: Array) -> Array:
        error = np.concatenate([self._error(result[s : s + CHUNK], s) for s in range(0, len(result), CHUNK)])
        if self._special is not None:
            got = as_float(result, self.dtype)
            same = (got == self.values) | (np.isnan(got) & np.isnan(self.values))
            error[self._special & ~same] = np.inf
        return error


def _special(values: Array) -> Array | None:
    mask = ~np.isfinite(values)
    return mask if mask.any() else None


def _inverse_units(values: Array) -> Array:
    """One over each element's unit. In chunks that stay in cache: fresh pages cost more than the arithmetic."""
    starts = range(0, len(values), CHUNK)
    sums = [_block_sums(_magnitude(values[start : start + CHUNK])) for start in starts]
    whole = math.sqrt(sum(float(total.sum()) for total, _ in sums) / max(1, len(values)))
    floor = max(BLOCK_FLOOR * whole, float(np.finfo(np.float32).tiny))
    unit = np.empty(len(values), dtype=np.float64 if values.dtype == np.float64 and whole > 1e30 else np.float32)
    for start, (total, lengths) in zip(starts, sums, strict=True):
        scale = np.maximum(np.sqrt(total / lengths), floor)
        size = _magnitude(values[start : start + CHUNK])
        np.divide(1.0, size + np.repeat(scale, lengths), out=unit[start : start + CHUNK], casting="unsafe")
    return unit


def _magnitude(values: Array) -> Array:
    size = np.abs(values)
    return size if np.isfinite(size).all() else np.where(np.isfinite(size), size, 0)


def _block_sums(size: Array) -> tuple[Array, Array]:
    edges = np.arange(0, len(size), BLOCK)
    sums: Array = np.add.reduceat(np.square(size, dtype=np.float64), edges)
    return sums, np.diff(np.append(edges, len(size)))


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
