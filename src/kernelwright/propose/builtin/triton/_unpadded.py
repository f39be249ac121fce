"""Padding that is not written down: who reads a padded copy reads what was padded, within its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelwright.propose.builtin._loops import (
    Access,
    Bound,
    Buffer,
    Expression,
    Layout,
    Number,
    Product,
    Scatter,
    Shape,
    Statement,
    Store,
    accesses,
    reads,
)
from kernelwright.propose.builtin._views import replaced


@dataclass(frozen=True)
class _Padded:
    """What is found inside a buffer from `first` on, and the number that is everywhere else."""

    buffer: Buffer
    first: Shape
    inside: Access
    fill: float

    def seen(self, access: Access) -> Access | None:
        """The same as an access to what was padded, if it goes along the axes."""
        coordinates = along_axes(self.buffer.shape, access.layout)
        if coordinates is None or access.picks:
            return None
        axes = [replace(one, offset=one.offset - low) for one, low in zip(coordinates, self.first, strict=True)]
        strides = self.inside.layout.strides
        offset = self.inside.layout.offset + sum(one.offset * stride for one, stride in zip(axes, strides, strict=True))
        moves = zip(*(one.strides for one in axes), strict=True)
        there = tuple(sum(step * stride for step, stride in zip(steps, strides, strict=True)) for steps in moves)
        bounds = tuple(
            Bound(one, size)
            for one, size, whole in zip(axes, self.inside.shape, self.buffer.shape, strict=True)
            if size < whole
        )
        return Access(self.inside.buffer, Layout(access.shape, offset, there), (), bounds, self.fill)


def unpadded(statements: Sequence[Statement]) -> list[Statement]:
    """The statements without padded copies, where everyone who reads one can do without."""
    found = list(statements)
    for buffer in dict.fromkeys(one.into for one in statements):
        padded = _padded(buffer, found)
        found = _without(padded, found) if padded else found
    return found


def _padded(buffer: Buffer, statements: Sequence[Statement]) -> _Padded | None:
    stores = [one for one in statements if one.into == buffer]
    if buffer.role != "inner" or not all(isinstance(one, Store) and one.layout for one in stores):
        return None
    values = [one.expression for one in stores if isinstance(one, Store)]
    fills = {value.value for value in values if isinstance(value, Number)}
    rest = [one for one in stores if isinstance(one, Store) and not isinstance(one.expression, Number)]
    if len(fills) != 1 or len(rest) != 1 or not isinstance(rest[0].expression, Access):
        return None
    inside, place = rest[0].expression, rest[0].place
    plain = not (inside.picks or inside.bounds) and place.strides == buffer.strides
    coordinates = along_axes(buffer.shape, place)
    axes = zip(inside.shape, buffer.shape, inside.layout.strides, strict=True)
    if not plain or coordinates is None or any(size < whole and not stride for size, whole, stride in axes):
        return None
    return _Padded(buffer, tuple(one.offset for one in coordinates), inside, fills.pop())


def _without(padded: _Padded, statements: list[Statement]) -> list[Statement]:
    """The statements as they were, if somebody reads the copy who cannot do without."""
    kept: list[Statement] = []
    for one in (one for one in statements if one.into != padded.buffer):
        read = _rewritten(one, padded) if padded.buffer in reads(one) else one
        if read is None:
            return statements
        kept.append(read)
    return kept


def _rewritten(statement: Statement, padded: _Padded) -> Statement | None:
    if isinstance(statement, Product):
        return _product(statement, padded)
    if isinstance(statement, Scatter):
        return None
    mine = [one for one in accesses(statement.expression) if one.buffer == padded.buffer]
    seen = {one: padded.seen(one) for one in mine}
    swaps: dict[Expression, Expression] = {one: there for one, there in seen.items() if there is not None}
    return replace(statement, expression=replaced(statement.expression, swaps)) if len(swaps) == len(mine) else None


def _product(product: Product, padded: _Padded) -> Product | None:
    """Nothing is added to a sum where there is nothing, so it must have been padded with zeros."""
    left, right = ((padded.seen(one) if one.buffer == padded.buffer else one) for one in (product.left, product.right))
    return replace(product, left=left, right=right) if left and right and padded.fill == 0 else None


def along_axes(shape: Shape, layout: Layout) -> list[Layout] | None:
    """The coordinates of a dense buffer that a layout goes through; None if some step follows no axis."""
    dense = Layout(shape, 0, Buffer("", shape, "", "").strides)
    offsets, left = [], layout.offset
    for stride in dense.strides:
        start, left = divmod(left, stride)
        offsets.append(start)
    steps = [_step(dense, size, stride) for size, stride in zip(layout.shape, layout.strides, strict=True)]
    if any(step is None for step in steps):
        return None
    found = [
        Layout(layout.shape, offset, tuple(by if at == axis else 0 for at, by in filter(None, steps)))
        for axis, offset in enumerate(offsets)
    ]
    ends = [one.ends for one in found]
    inside = all(low >= 0 and high < size for (low, high), size in zip(ends, shape, strict=True))
    return found if inside else None


def _step(dense: Layout, size: int, stride: int) -> tuple[int, int] | None:
    """Along which axis a stride goes, and how many places at a time."""
    if size == 1 or stride == 0:
        return 0, 0
    axes = (axis for axis, one in enumerate(dense.strides) if dense.shape[axis] > 1 and one <= abs(stride))
    axis = next(axes, None)
    if axis is None or stride % dense.strides[axis]:
        return None
    return axis, stride // dense.strides[axis]
