"""The intermediate form: statements over iteration spaces, whose expressions read memory by affine addresses.

Every expression has a shape, the iteration space it is evaluated over, and its parts have the same one: a broadcast
is an address that does not move. A view of an expression is the same expression with other addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Literal

Kind = Literal["float", "int", "bool"]
Shape = tuple[int, ...]
ELEMENTS = {
    "float32": "float",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "bool",
}
KINDS: dict[str, Kind] = {
    name: "float" if name == "float32" else "bool" if name == "bool" else "int" for name in ELEMENTS
}


@dataclass(frozen=True)
class Buffer:
    """A tensor in memory, dense. `role`: input, weight, inner or output."""

    name: str
    shape: Shape
    dtype: str
    role: str

    @property
    def strides(self) -> Shape:
        return dense(self.shape)

    @property
    def kind(self) -> Kind:
        return KINDS[self.dtype]


def dense(shape: Shape) -> Shape:
    """Strides of a tensor without gaps."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


@dataclass(frozen=True)
class Layout:
    """An affine address over a shape."""

    shape: Shape
    offset: int
    strides: Shape

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest address."""
        moves = [(size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)]
        return self.offset + sum(min(0, move) for move in moves), self.offset + sum(max(0, move) for move in moves)


@dataclass(frozen=True)
class Bound:
    """A coordinate, as an affine address, and how many places there are along its axis."""

    layout: Layout
    size: int

    @property
    def tests(self) -> list[str]:
        """What must be true of the coordinate, as far as it is not anyway."""
        low, high = self.layout.ends
        return [">= 0"] * (low < 0) + [f"< {self.size}"] * (high >= self.size)


@dataclass(frozen=True)
class Access:
    """What a buffer holds at an address, moved by `picks`: integers read elsewhere, each times a stride.

    Where a coordinate lies outside of its bound, nothing is read and the value is `beyond`.
    """

    buffer: Buffer
    layout: Layout
    picks: tuple[tuple[Expression, int], ...] = ()
    bounds: tuple[Bound, ...] = ()
    beyond: float = 0.0

    @property
    def shape(self) -> Shape:
        return self.layout.shape

    @property
    def kind(self) -> Kind:
        return self.buffer.kind

    @property
    def parts(self) -> tuple[Expression, ...]:
        return tuple(pick for pick, _ in self.picks)


@dataclass(frozen=True)
class Number:
    """The same everywhere."""

    value: float
    kind: Kind
    shape: Shape
    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where in the space it is evaluated, as one integer: an affine address that is not followed."""

    layout: Layout
    kind: Kind = "int"
    parts: tuple[Expression, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.layout.shape


@dataclass(frozen=True)
class Apply:
    """A function of values at the same point."""

    function: str
    parts: tuple[Expression, ...]
    kind: Kind
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        # Expressions share parts, so without it a hash would be counted once for every path that leads to a part.
        object.__setattr__(self, "_hash", hash((self.function, self.parts, self.kind)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def shape(self) -> Shape:
        return self.parts[0].shape


Expression = Access | Number | Place | Apply


@dataclass(frozen=True)
class Reduce:
    """`into[outer] = how(expression over outer and inner)`; the last axes of the expression are the inner ones."""

    into: Buffer
    how: Literal["sum", "max", "min", "prod"]
    expression: Expression

    @property
    def outer(self) -> Shape:
        return self.into.shape

    @property
    def inner(self) -> Shape:
        return self.expression.shape[len(self.outer) :]


@dataclass(frozen=True)
class Store:
    """`into[point] = expression at that point`. `layout`: which part of the buffer that is; None for all of it."""

    into: Buffer
    expression: Expression
    layout: Layout | None = None

    @property
    def place(self) -> Layout:
        return self.layout or Layout(self.into.shape, 0, self.into.strides)


@dataclass(frozen=True)
class Product:
    """`into[b, m, n] = sum over k of left[b, m, k] * right[b, k, n]`; without the axis b where there is one product.

    The axis b may be several in `left` and `right`; k and n may be several, `inner` and `across`, in `right`.
    """

    into: Buffer
    left: Access
    right: Access
    inner: int = 1
    across: int = 1


@dataclass(frozen=True)
class Scan:
    """`into[point] = how(expression at that point and at all before it along an axis)`."""

    into: Buffer
    how: Literal["sum", "prod"]
    expression: Expression
    axis: int


@dataclass(frozen=True)
class Scatter:
    """`into` begins as `start`; then each value is added, or put, where `index` says along an axis.

    `value` and `index` go over the same space: the axes of `into`, of which `axis` may have another size.
    """

    into: Buffer
    start: Expression
    index: Expression
    value: Expression
    axis: int
    adds: bool = True


Statement = Reduce | Store | Product | Scan | Scatter


@dataclass(frozen=True)
class Program:
    """Statements in an order in which each finds what it reads; `outputs` in the order of the reference.

    `changed`: buffers of the reference by name, and what they are to hold afterwards.
    """

    statements: tuple[Statement, ...]
    outputs: tuple[Buffer, ...]
    changed: tuple[tuple[str, Buffer], ...] = ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Every part once, parts before what is made of them."""
    seen: set[Expression] = set()
    waiting: list[tuple[Expression, bool]] = [(expression, False)]
    while waiting:
        part, ready = waiting.pop()
        if part in seen:
            continue
        if ready:
            seen.add(part)
            yield part
        else:
            waiting.append((part, True))
            waiting.extend((inner, False) for inner in reversed(part.parts))


def in_order(expression: Expression, is_known: Callable[[Expression], bool]) -> list[Expression]:
    """Parts before what is made of them, without the parts of what is known already."""
    found: dict[Expression, None] = {}

    def visit(part: Expression) -> None:
        if part in found:
            return
        if not is_known(part):
            for inner in part.parts:
                visit(inner)
        found[part] = None

    visit(expression)
    return list(found)


def accesses(expression: Expression) -> Iterator[Access]:
    return (part for part in walk(expression) if isinstance(part, Access))


def expressions(statement: Statement) -> tuple[Expression, ...]:
    """What a statement evaluates."""
    match statement:
        case Product(left=left, right=right):
            return left, right
        case Scatter(start=start, index=index, value=value):
            return start, index, value
        case _:
            return (statement.expression,)


def reads(statement: Statement) -> set[Buffer]:
    return {access.buffer for part in expressions(statement) for access in accesses(part)}
