"""Errors in units of the local size of the answer: by compiled code where there is a compiler, else by numpy."""

from __future__ import annotations

import ctypes
import functools
import math

import numpy as np

from kernelwright.judge import _compiled
from kernelwright.judge._halves import in_halves
from kernelwright.judge._memory import Array

BLOCK = 4096
CHUNK = 16 * BLOCK


def square_sums(values: Array) -> Array:
    """The sum of squares of every block, leaving out what is not finite."""
    sums = np.empty(-(-len(values) // BLOCK))
    library = _library()
    if library is None:
        for start in range(0, len(values), BLOCK):
            size = values[start : start + BLOCK].astype(np.float64)
            sums[start // BLOCK] = np.sum(np.square(size[np.isfinite(size)]))
        return sums
    library[f"ruler_squares_{values.dtype}"](_at(values), _number(len(values)), _number(BLOCK), _at(sums))
    return sums


def deviation(result: Array, right: Array, scales: Array) -> tuple[float, float]:
    """The sum of all squared errors, and the largest error. Not a number if any error is none."""
    library = _library()
    if library is None:
        return _deviation_by_numpy(result, right, scales)
    result, right = np.ascontiguousarray(result), np.ascontiguousarray(right)
    measure = library[f"ruler_{result.dtype}_{right.dtype}"]

    def measured(part: slice) -> Array:
        got, wanted, unit, out = result[part], right[part], scales[part.start // BLOCK :], np.empty(2)
        measure(_at(got), _at(wanted), _at(unit), _number(len(wanted)), _number(BLOCK), _at(out))
        return out

    parts = in_halves(measured, len(right), step=BLOCK)
    total, peak = sum(float(part[0]) for part in parts), max(float(part[1]) for part in parts)
    # A largest value drops what is not a number; a sum does not.
    return total, peak if total == total else math.nan


def errors(result: Array, right: Array, scales: Array) -> Array:
    """Every element's error. An infinity or NaN that is expected is met, or missed infinitely."""
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.abs(right) + np.repeat(scales, BLOCK)[: len(right)]
        error: Array = np.abs(np.subtract(result, right, dtype=np.float64)) / unit
        met = (result == right) | (np.isnan(result) & np.isnan(right))
    special = ~np.isfinite(right)
    error[special] = np.where(met[special], 0.0, np.inf)
    return error


def _deviation_by_numpy(result: Array, right: Array, scales: Array) -> tuple[float, float]:
    total, peak = 0.0, 0.0
    for start in range(0, len(right), CHUNK):
        part = slice(start, start + CHUNK)
        error = errors(result[part], right[part], scales[start // BLOCK : (start + CHUNK) // BLOCK])
        total += float(np.sum(error * error))  # not np.dot: its threads would outlive the call
        peak = max(peak, float(error.max(initial=0.0)))
    return total, peak if total == total else math.nan


@functools.cache
def _library() -> ctypes.CDLL | None:
    path = _compiled.library(_compiled.RULER)
    return ctypes.CDLL(str(path)) if path else None


def _at(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _number(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)
