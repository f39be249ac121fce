"""Reductions and products to few numbers, cut into parts that many programs share: of each part first, then of what was
found.

A sum of exponentials and its maximum, or a variance and its mean, are cut together: each part has a maximum or a mean
of its own, and what was found below it is put right when parts are joined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from kernelwright.propose.builtin._loops import (
    Access,
    Apply,
    Buffer,
    Expression,
    Layout,
    Number,
    Product,
    Reduce,
    Shape,
    Statement,
    accesses,
)
from kernelwright.propose.builtin._views import NoViewError, permute, reshape, split, viewed
from kernelwright.propose.builtin.triton._pairs import PLACE, SOFTMAX, Pair, pairs

# Rows, and columns side by side, that are enough for all; rows too short to be worth cutting, and the shortest parts.
ENOUGH_ROWS, ENOUGH_COLUMNS, SHORT, SHORTEST = 512, 1 << 15, 1 << 16, 1 << 12
# Of products: elements of a tile, tiles that are enough for all, and places along what is summed that are worth a part.
TILE, ENOUGH_TILES, FEWEST_STEPS = 1 << 14, 256, 512


@dataclass(frozen=True)
class _Cut:
    """Into how many parts, along which axis. `shape`: axes before it is cut, of which neighbours may be one."""

    axis: int
    parts: int
    shape: Shape

    def apart(self, expression: Expression, rank: int) -> Expression:
        """Rows first, then parts, then what is left of a row. `rank`: axes of the rows."""
        turned = viewed(viewed(expression, reshape(self.shape)), split(self.axis, self.parts))
        others = [axis for axis in range(rank, len(turned.shape)) if axis != self.axis]
        return viewed(turned, permute((*range(rank), self.axis, *others)))


def cut(statements: Sequence[Statement], wanted: int) -> list[Statement]:
    """Statements of which no reduction lacks rows, where it can be helped. `wanted`: programs."""
    reductions = [one for one in statements if isinstance(one, Reduce)]
    found = {second: pair for second, pair in pairs(reductions).items() if pair.kind != PLACE}
    cuts = {one.into: _cut(one, wanted) for one in reductions}
    made: list[Statement] = []
    for one in statements:
        where = cuts.get(one.into) if isinstance(one, Reduce) else None
        if isinstance(one, Product):
            made += _product(one)
        elif not isinstance(one, Reduce) or where is None:
            made.append(one)
        elif one.into in found and cuts[found[one.into].first] == where:
            made += _second(one, found[one.into], where)
        else:
            made += _simple(one, where)
    return made


def _cut(reduction: Reduce, wanted: int) -> _Cut | None:
    """Where a reduction is cut: along the outermost axis that allows it."""
    if not _lacks_rows(reduction):
        return None
    rank, shape = len(reduction.outer), _joined(reduction)
    parts = min(-(-wanted // max(1, prod(reduction.outer))), max(1, prod(reduction.inner) // SHORTEST))
    best = max(range(rank, len(shape)), key=lambda axis: (min(_divisor(shape[axis], parts) * 4, parts), -axis))
    number = _divisor(shape[best], parts)
    return _Cut(best, number, shape) if number > 1 else None


def _joined(reduction: Reduce) -> Shape:
    """The axes, those of a row counted as one where they can be."""
    together = (*reduction.outer, prod(reduction.inner))
    try:
        return viewed(reduction.expression, reshape(together)).shape
    except NoViewError:
        return reduction.expression.shape


def _divisor(size: int, most: int) -> int:
    """The largest number of equal parts."""
    return next(parts for parts in range(min(size, most), 0, -1) if size % parts == 0)


def _lacks_rows(reduction: Reduce) -> bool:
    rank, rows = len(reduction.outer), prod(reduction.outer)
    strides = [access.layout.strides for access in accesses(reduction.expression)]
    across = rank > 0 and all(one[-1] != 1 for one in strides) and any(one[rank - 1] == 1 for one in strides)
    enough = ENOUGH_COLUMNS if across else ENOUGH_ROWS
    return rows < enough and prod(reduction.inner) >= SHORT


def _partial(reduction: Reduce, where: _Cut) -> Buffer:
    return Buffer(f"{reduction.into.name}_parts", (*reduction.outer, where.parts), "float32", "inner")


def _whole(buffer: Buffer) -> Access:
    return Access(buffer, Layout(buffer.shape, 0, buffer.strides))


def _simple(reduction: Reduce, where: _Cut) -> list[Statement]:
    partial = _partial(reduction, where)
    first = Reduce(partial, reduction.how, where.apart(reduction.expression, len(reduction.outer)))
    return [first, replace(reduction, expression=_whole(partial))]


def _second(reduction: Reduce, pair: Pair, where: _Cut) -> list[Statement]:
    """The later of a pair: of each part below what was found first of that part, then of all."""
    rank = len(reduction.outer)
    value = where.apart(pair.value, rank)
    earlier = Buffer(f"{pair.first.name}_parts", (*reduction.outer, where.parts), "float32", "inner")
    partial = _partial(reduction, where)
    inner = len(value.shape) - rank - 1
    stretched = Access(earlier, Layout(value.shape, 0, earlier.strides + (0,) * inner))
    all_of = Access(pair.first, Layout(earlier.shape, 0, (*pair.first.strides, 0)))
    if pair.kind == SOFTMAX:
        of_part = _exp(value, _finite(stretched))
        below = _finite(all_of) if math.isinf(pair.endless) else all_of
        of_all = _of("mul", _whole(partial), _exp(_whole(earlier), below))
    else:
        count, total = prod(value.shape[rank + 1 :]), prod(reduction.inner)
        of_part = _square(_of("sub", value, _over(stretched, count)))
        apart = _square(_of("sub", _over(_whole(earlier), count), _over(all_of, total)))
        of_all = _of("add", _whole(partial), _of("mul", apart, _number(count, apart.shape)))
    return [Reduce(partial, "sum", of_part), replace(reduction, expression=of_all)]


def _product(product: Product) -> list[Statement]:
    """A product of few elements as products of parts of its inner axis, and the sum of those."""
    into, right = product.into, product.right
    axis = len(right.shape) - product.across - product.inner
    most = min(ENOUGH_TILES * TILE // max(TILE, prod(into.shape)), product.left.shape[-1] // FEWEST_STEPS)
    parts = _divisor(right.shape[axis], max(1, most))
    if parts == 1:
        return [product]
    partial = Buffer(f"{into.name}_parts", (parts * prod(into.shape[:-2]), *into.shape[-2:]), "float32", "inner")
    first = replace(
        product,
        into=partial,
        left=_in_front(product.left, len(product.left.shape) - 1, parts),
        right=_in_front(right, axis, parts),
    )
    results = viewed(_whole(partial), reshape((parts, *into.shape)))
    return [first, Reduce(into, "sum", viewed(results, permute((*range(1, len(into.shape) + 1), 0))))]


def _in_front(access: Access, axis: int, parts: int) -> Access:
    """The parts of an axis come first."""
    others = [at for at in range(len(access.shape) + 1) if at != axis]
    found = viewed(viewed(access, split(axis, parts)), permute((axis, *others)))
    assert isinstance(found, Access)
    return found


def _of(function: str, *parts: Expression) -> Expression:
    return Apply(function, parts, "float")


def _number(value: float, shape: Shape) -> Number:
    return Number(float(value), "float", shape)


def _over(value: Expression, count: int) -> Expression:
    return _of("div", value, _number(count, value.shape))


def _square(value: Expression) -> Expression:
    return _of("mul", value, value)


def _exp(value: Expression, top: Expression) -> Expression:
    return _of("exp", _of("sub", value, top))


def _finite(value: Expression) -> Expression:
    """Infinity less itself is no number, so nothing is taken off where the largest is infinite."""
    endless = Apply("eq", (_of("abs", value), _number(math.inf, value.shape)), "bool")
    return _of("where", endless, _number(0.0, value.shape), value)
