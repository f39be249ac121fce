"""Windows that overlap: what is found in one is an expression, and programs take rows that share what they read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from math import prod

from kernelwright.propose.builtin._kernels import Kernel, Part
from kernelwright.propose.builtin._loops import (
    Apply,
    Expression,
    Layout,
    Reduce,
    Statement,
    Store,
    accesses,
    reads,
)
from kernelwright.propose.builtin._views import View, viewed

# Places of a window that are written out, at most.
WINDOW = 32
FUNCTIONS = {"sum": "add", "max": "max", "min": "min", "prod": "mul"}
# Rows share a program where they read so much less together than alone.
WORTH = 0.75


def written_out(statements: Sequence[Statement]) -> list[Statement]:
    """Reductions of small windows that overlap as expressions."""
    return [_written_out(one) if _is_window(one, statements) else one for one in statements]


def _is_window(statement: Statement, statements: Sequence[Statement]) -> bool:
    if not isinstance(statement, Reduce) or prod(statement.inner) > WINDOW:
        return False
    readers = [one for one in statements if statement.into in reads(one)]
    layouts = [access.layout for access in accesses(statement.expression)]
    return all(isinstance(one, Store) for one in readers) and any(_overlaps(layout) for layout in layouts)


def _overlaps(layout: Layout) -> bool:
    """Whether it meets some address more than once, though it stands still along no axis."""
    low, high = layout.ends
    moves = all(stride or size == 1 for size, stride in zip(layout.shape, layout.strides, strict=True))
    return moves and prod(layout.shape) > high - low + 1


def _written_out(statement: Statement) -> Statement:
    assert isinstance(statement, Reduce)
    rank = len(statement.outer)
    axes = [axis for axis in range(rank, len(statement.expression.shape)) if statement.expression.shape[axis] > 1]
    return Store(statement.into, _found(statement, _in_order(statement, axes), {}))


def _in_order(reduction: Reduce, axes: list[int]) -> list[int]:
    """The axis along which neighbouring rows share what they read comes last: they share what was found of the rest."""
    rank = len(reduction.outer)
    strides = next(one.layout.strides for one in accesses(reduction.expression) if _overlaps(one.layout))
    rows = abs(strides[rank - 2] if rank > 1 else 1) or 1
    nearest = min(axes, key=lambda axis: abs(math.log(abs(strides[axis]) / rows)), default=None)
    return sorted(axes, key=lambda axis: axis == nearest)


def _found(reduction: Reduce, axes: list[int], at: dict[int, int]) -> Expression:
    """What is found along these axes, the last of them joined last, at places of the others."""
    if not axes:
        return viewed(reduction.expression, _standing(len(reduction.outer), at))
    *others, axis = axes
    size = reduction.expression.shape[axis]
    values = [_found(reduction, others, {**at, axis: place}) for place in range(size)]
    found = values[0]
    for value in values[1:]:
        found = Apply(FUNCTIONS[reduction.how], (found, value), "float")
    return found


def _standing(rank: int, at: dict[int, int]) -> View:
    """The first axes, at one place of the others."""

    def view(layout: Layout) -> Layout:
        offset = layout.offset + sum(place * layout.strides[axis] for axis, place in at.items())
        return Layout(layout.shape[:rank], offset, layout.strides[:rank])

    return view


# *** rows that share ***


def side_by_side(kernel: Kernel, most: int) -> Kernel:
    """A kernel whose programs take several rows each, where rows read the same places of a window."""
    if type(kernel) is not Kernel or kernel.inner or len(kernel.outer) < 2 or not has_windows(kernel):
        return kernel
    size = kernel.outer[-2]
    rows = next(number for number in count(most, -1) if size % number == 0)
    taken = _taken(kernel, rows)
    return taken if _reads(taken) <= WORTH * rows * _reads(kernel) else kernel


def has_windows(kernel: Kernel) -> bool:
    """Whether one of its values reads a buffer at several places."""
    return any(_reads_a_window(part) for part in kernel.parts)


def _reads_a_window(part: Part) -> bool:
    found = [(access.buffer, access.layout.strides) for access in accesses(part.expression)]
    return len(found) > len(set(found))


def _reads(kernel: Kernel) -> int:
    return len({access for part in kernel.parts for access in accesses(part.expression)})


def _taken(kernel: Kernel, rows: int) -> Kernel:
    axis = len(kernel.outer) - 2
    views = [_every(axis, rows, first) for first in range(rows)]
    parts = [
        replace(part, layout=view(part.layout), expression=viewed(part.expression, view))
        for view in views
        for part in kernel.parts
    ]
    return Kernel((*kernel.outer[:axis], kernel.outer[axis] // rows, kernel.outer[-1]), (), parts)


def _every(axis: int, step: int, first: int) -> View:
    """Along an axis, every so many places, from one of them on."""

    def view(layout: Layout) -> Layout:
        shape, strides = list(layout.shape), list(layout.strides)
        offset = layout.offset + first * strides[axis]
        shape[axis], strides[axis] = shape[axis] // step, strides[axis] * step
        return Layout(tuple(shape), offset, tuple(strides))

    return view
