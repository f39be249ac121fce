"""Attention as one kernel: a product, what is made of its rows, and the product of that, where nobody else asks for
what is in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf, prod
from typing import Any

import numpy as np

from kernelwright.propose.builtin._kernels import Kernel, Part, ProductKernel
from kernelwright.propose.builtin._loops import (
    Access,
    Apply,
    Buffer,
    Expression,
    Layout,
    Number,
    Place,
    Product,
    accesses,
    dense,
    reads,
    walk,
)
from kernelwright.propose.builtin._views import moved

# Fewer rows than these are products of a vector, which are not written as tiles.
FEWEST_ROWS = 9
# What a mask may be made of for its end to be known beforehand.
KNOWN: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "bool_of_int": lambda value: value != 0,
    "int_of_bool": lambda value: value.astype(np.int64),
}


@dataclass
class AttentionKernel(ProductKernel):
    """The second product, with the first and the rows between them.

    Attributes:
        scores: The first product.
        rows: What is made of a row of it; it reads and writes `line`, one row of it.
        divisor: What the second product's rows are divided by at last, found with the rows; None if nothing.
        slack: Row m sees `m + slack` columns at most; None if all.
    """

    scores: Product | None = None
    rows: Kernel | None = None
    line: Buffer | None = None
    divisor: Buffer | None = None
    slack: int | None = None

    def read(self) -> set[Buffer]:
        assert self.scores is not None
        assert self.rows is not None
        assert self.product is not None
        others = {access.buffer for part in self.parts for access in accesses(part.expression)}
        within = {self.line, self.product.left.buffer, *self.rows.made()}
        return (others | reads(self.scores) | {self.product.right.buffer} | self.rows.read()) - within


def attended(kernels: Sequence[Kernel], wanted: set[Buffer]) -> list[Kernel]:
    """Kernels with every attention among them as one. `wanted`: what is asked for when all have run."""
    found = list(kernels)
    for last in kernels:
        trio = _trio(last, kernels, wanted) if type(last) is ProductKernel else None
        if trio is not None:
            first, rows, made = trio
            found = [made if one is last else one for one in found if one is not first and one is not rows]
    return found


def _trio(
    last: ProductKernel, kernels: Sequence[Kernel], wanted: set[Buffer]
) -> tuple[ProductKernel, Kernel, AttentionKernel] | None:
    assert last.product is not None
    rows = next((one for one in kernels if type(one) is Kernel and last.product.left.buffer in one.made()), None)
    if rows is None or len(rows.inner) != 1:
        return None
    first = next((one for one in kernels if type(one) is ProductKernel and one.made() & rows.read()), None)
    if first is None or len(first.parts) != 1 or first.product is None:
        return None
    others = [one for one in kernels if one is not rows and one is not last]
    kept = (first.made() & _read_by([*others, last])) | (rows.made() & _read_by(others))
    if kept or (first.made() | rows.made()) & wanted or not _fits(first.product, rows, last.product):
        return None
    return first, rows, _made(first.product, rows, last)


def _read_by(kernels: Sequence[Kernel]) -> set[Buffer]:
    return {buffer for kernel in kernels for buffer in kernel.read()}


def _fits(first: Product, rows: Kernel, last: Product) -> bool:
    """Whether all three go over the same rows in the same order."""
    stores = [part for part in rows.parts if not part.how]
    scores = [access for part in rows.parts for access in accesses(part.expression) if access.buffer == first.into]
    plain = all(product.inner == product.across == 1 for product in (first, last))
    sizes = first.into.shape[-2] >= FEWEST_ROWS and first.into.shape[-1:] == rows.inner
    same = prod(first.into.shape) == prod(rows.shape) == prod(last.left.shape)
    batches = prod(first.into.shape[:-2]) == prod(last.into.shape[:-2])
    whole = [*(access.layout for access in scores), *(part.layout for part in stores), last.left.layout]
    free = all(access.picks == () for access in scores)
    return len(stores) == 1 and plain and sizes and same and batches and free and all(map(_is_dense, whole))


def _is_dense(layout: Layout) -> bool:
    sizes = zip(layout.shape, layout.strides, dense(layout.shape), strict=True)
    return layout.offset == 0 and all(stride == wanted for size, stride, wanted in sizes if size > 1)


def _made(first: Product, rows: Kernel, last: ProductKernel) -> AttentionKernel:
    line = Buffer("line", rows.inner, "float32", "row")
    at = Layout(rows.shape, 0, (0,) * len(rows.outer) + (1,))
    slack = _slack(rows)
    parts = [replace(part, expression=moved(part.expression, first.into, Access(line, at))) for part in rows.parts]
    divisor, store = _undivided(next(part for part in parts if not part.how), rows)
    store = replace(store, into=line, layout=at)
    parts = [part if part.how else store for part in parts]
    return AttentionKernel(
        last.outer,
        (),
        last.parts,
        last.product,
        scores=first,
        rows=Kernel(rows.outer, rows.inner, parts),
        line=line,
        divisor=divisor,
        slack=slack,
    )


def _undivided(store: Part, rows: Kernel) -> tuple[Buffer | None, Part]:
    """A row divided by a number of its own may be so divided when its products are summed: they are fewer."""
    match store.expression:
        case Apply("div", (above, Access(buffer=buffer))) if buffer in rows.own:
            return buffer, replace(store, expression=above)
    return None, store


# *** masks that are known beforehand ***


def _slack(rows: Kernel) -> int | None:
    """s, where row m has nothing to see from column m + s on; None where that is not so or not known."""
    tops = [part.expression for part in rows.parts if part.how == "max"]
    mask = _mask(tops[0]) if len(tops) == 1 else None
    if mask is None:
        return None
    seen = np.broadcast_to(_evaluated(mask, rows), (rows.outer[-1], rows.inner[0]))
    ends = seen.shape[1] - np.argmax(seen[:, ::-1], axis=1)
    slack = int(ends[0])
    follows = ends == np.minimum(np.arange(len(ends)) + slack, seen.shape[1])
    return slack if seen.any(axis=1).all() and follows.all() else None


def _mask(expression: Expression) -> Expression | None:
    """Where a value is not minus infinity, if that depends on nothing but the place in the last two axes."""
    match expression:
        case Apply("where", (mask, Number() as masked, _)) if isinf(masked.value) and masked.value < 0:
            mask = Apply("not", (mask,), "bool")
        case Apply("where", (mask, _, Number() as masked)) if isinf(masked.value) and masked.value < 0:
            pass
        case _:
            return None
    return mask if all(_is_known(part) for part in walk(mask)) else None


def _is_known(part: Expression) -> bool:
    match part:
        case Number():
            return True
        case Place(layout=layout):
            return not any(layout.strides[:-2])
        case Apply(function=function):
            return function in KNOWN
    return False


def _evaluated(part: Expression, rows: Kernel) -> Any:
    match part:
        case Number(value=value):
            return np.asarray(value)
        case Place(layout=layout):
            down, across = np.arange(rows.outer[-1])[:, None], np.arange(rows.inner[0])
            return layout.offset + down * layout.strides[-2] + across * layout.strides[-1]
        case Apply(function=function, parts=parts):
            return KNOWN[function](*(_evaluated(one, rows) for one in parts))
    raise AssertionError(part)
