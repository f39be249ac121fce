"""What is dear to work out and the same for many points of a loop is found beforehand, by a kernel of its own; so is a
right matrix whose columns do not lie side by side, turned.

Only what inputs and weights alone decide; what a kernel finds in its rows stays there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from kernelwright.propose.builtin._functions import COSTLY
from kernelwright.propose.builtin._loops import (
    Access,
    Apply,
    Buffer,
    Expression,
    Layout,
    Number,
    Place,
    Product,
    Reduce,
    Shape,
    Statement,
    Store,
    walk,
)
from kernelwright.propose.builtin._views import drop, replaced, viewed

# Lanes of a usual vector, and the share of a loop's vectors that must be spared.
LANES, WORTH = 16, 1 / 8
# Rows that meet a matrix, from which on it is worth turning.
MANY_ROWS = 16


def with_beforehand(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with others before them for what these need not find again and again."""
    known: dict[Expression, Buffer] = {}
    made: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Reduce | Store):
            swaps = {part: _found(part, axes, known, made) for part, axes in _worth(statement.expression)}
            made.append(replace(statement, expression=replaced(statement.expression, swaps)))
        else:
            made.append(statement)
    return made


def with_dense_rights(statements: Sequence[Statement]) -> list[Statement]:
    """The statements; a right matrix that many rows meet and whose own do not lie densely is turned before them."""
    known: dict[Expression, Buffer] = {}
    made: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Product) and _is_worth_turning(statement):
            axes = set(_moved_along(statement.right))
            made.append(replace(statement, right=_found(statement.right, axes, known, made, "turned")))
        else:
            made.append(statement)
    return made


def _is_worth_turning(product: Product) -> bool:
    right, plain = product.right, product.inner == product.across == 1
    return plain and not right.picks and right.layout.strides[-1] != 1 and product.left.shape[-2] >= MANY_ROWS


def _found(
    part: Expression, axes: set[int], known: dict[Expression, Buffer], made: list[Statement], name: str = "known"
) -> Access:
    """Where a value is read once it is found; along other axes than these it does not move."""
    still = set(range(len(part.shape))) - axes
    value = viewed(part, drop(still))
    if value not in known:
        known[value] = Buffer(f"{name}{len(known)}", value.shape, "float32", "inner")
        made.append(Store(known[value], value))
    steps = iter(known[value].strides)
    strides = tuple(next(steps) if axis in axes else 0 for axis in range(len(part.shape)))
    return Access(known[value], Layout(part.shape, 0, strides))


@dataclass(frozen=True)
class _Seen:
    """Along which axes a value moves, whether it takes long, and whether inputs and weights alone decide it."""

    axes: frozenset[int]
    costly: bool
    given: bool


def _worth(expression: Expression) -> Iterator[tuple[Expression, set[int]]]:
    """The largest parts that it pays to find beforehand."""
    seen = _all_seen(expression)
    waiting, met = [expression], set()
    while waiting:
        part = waiting.pop()
        if part in met:
            continue
        met.add(part)
        if _is_worth(part, seen[part]) and not _only_wraps(part):
            yield part, set(seen[part].axes)
        else:
            waiting.extend(part.parts)


def _all_seen(expression: Expression) -> dict[Expression, _Seen]:
    seen: dict[Expression, _Seen] = {}
    for part in walk(expression):
        below = [seen[inner] for inner in part.parts]
        axes = frozenset(_moved_along(part)).union(*(one.axes for one in below))
        costly = isinstance(part, Apply) and part.function in COSTLY
        given = not isinstance(part, Access) or part.buffer.role in ("input", "weight")
        seen[part] = _Seen(axes, costly or any(one.costly for one in below), given and all(one.given for one in below))
    return seen


def _moved_along(part: Expression) -> Iterator[int]:
    layouts: list[Layout] = [part.layout] if isinstance(part, Access | Place) else []
    if isinstance(part, Access):
        layouts += [bound.layout for bound in part.bounds]
    for layout in layouts:
        yield from (axis for axis, stride in enumerate(layout.strides) if stride and layout.shape[axis] > 1)


def _is_worth(part: Expression, seen: _Seen) -> bool:
    if not (seen.costly and seen.given and seen.axes and part.kind == "float"):
        return False
    all_points, points = prod(part.shape), prod(part.shape[axis] for axis in seen.axes)
    now = all_points / max(LANES, _stretch(part.shape, seen.axes))
    return now - points / LANES >= WORTH * all_points / LANES


def _only_wraps(part: Expression) -> bool:
    """Whether it is a cheap step from one other value, from which it can be had in place as well."""
    cheap = isinstance(part, Apply) and part.function not in COSTLY
    return cheap and sum(not isinstance(inner, Number) for inner in part.parts) == 1


def _stretch(shape: Shape, axes: frozenset[int]) -> int:
    """Points side by side for which a value is the same, and so worked out once."""
    return prod(shape[max(axes) + 1 :])
