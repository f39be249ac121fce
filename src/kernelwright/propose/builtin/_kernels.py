"""Which statements share a kernel, and over which loops it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from kernelwright.propose.builtin._beforehand import with_beforehand
from kernelwright.propose.builtin._genome import LaneGenes
from kernelwright.propose.builtin._loops import (
    Access,
    Apply,
    Buffer,
    Expression,
    Layout,
    Number,
    Product,
    Program,
    Reduce,
    Scan,
    Scatter,
    Shape,
    Statement,
    Store,
    accesses,
    dense,
    reads,
)
from kernelwright.propose.builtin._views import NoViewError, View, drop, flip, permute, reshape, split, viewed

# A reduction to fewer numbers than these is cut into parts first, if it reads more than so many elements.
FEW_ROWS, FEW_COLUMNS, MANY_ELEMENTS = 16, 1 << 10, 1 << 15
# Loops too short for a vector, and long enough for one to be worth it.
SHORT, LONG = 8, 16


@dataclass(frozen=True)
class Part:
    """A statement in its kernel: an expression over all its loops, and where the result goes.

    `how` is None for what is stored as it is. `layout`: addresses of `into` over the same loops.
    """

    into: Buffer
    layout: Layout
    expression: Expression
    how: Literal["sum", "max", "min", "prod"] | None = None


@dataclass
class Kernel:
    """Loops over rows (`outer`), and within a row (`inner`); without reductions there is no inner loop."""

    outer: Shape
    inner: Shape
    parts: list[Part] = field(default_factory=list)

    @property
    def shape(self) -> Shape:
        return self.outer + self.inner

    @property
    def own(self) -> set[Buffer]:
        """What is found within a row and can be read further down in it."""
        return {part.into for part in self.parts if part.how}

    @property
    def at_hand(self) -> Layout:
        """Where what the kernel itself found must be read for it to be at hand."""
        return _along_rows(self.outer, self.inner)

    def made(self) -> set[Buffer]:
        return {part.into for part in self.parts}

    def read(self) -> set[Buffer]:
        return {access.buffer for part in self.parts for access in accesses(part.expression)}


@dataclass
class ProductKernel(Kernel):
    """A product of matrices, and what is made of its elements one by one before they are stored."""

    product: Product | None = None

    @classmethod
    def of(cls, product: Product) -> ProductKernel:
        into = product.into
        layout = Layout(into.shape, 0, into.strides)
        # What it is the sum of does not run over the same loops, so the part itself names nothing.
        return cls(into.shape, (), [Part(into, layout, Number(0.0, "float", into.shape), "sum")], product)

    def read(self) -> set[Buffer]:
        assert self.product is not None
        return super().read() | reads(self.product)


@dataclass
class ScanKernel(Kernel):
    """A scan, and what is made of its elements one by one. `order`: of the axes, so that lanes run along the last."""

    order: tuple[int, ...] = ()
    axis: int = 0

    @classmethod
    def of(cls, scan: Scan) -> ScanKernel:
        shape = scan.into.shape
        last = _lane_axis(scan)
        others = [axis for axis in range(len(shape)) if axis not in (scan.axis, last)]
        order = (*others, scan.axis, *([last] if last != scan.axis else []))
        turn = permute(order)
        whole = turn(Layout(shape, 0, scan.into.strides))
        part = Part(scan.into, whole, viewed(scan.expression, turn), scan.how)
        return cls(whole.shape, (), [part], order, order.index(scan.axis))

    @property
    def at_hand(self) -> Layout:
        return self.parts[0].layout


def _lane_axis(scan: Scan) -> int:
    """The axis along which values lie side by side: the scan's own, if most do."""
    strides = [access.layout.strides for access in accesses(scan.expression)] or [scan.into.strides]
    axes = [axis for axis, size in enumerate(scan.into.shape) if size > 1] or [scan.axis]
    return max(axes, key=lambda axis: (sum(one[axis] == 1 for one in strides), axis == scan.axis, axis))


@dataclass
class ScatterKernel(Kernel):
    """Values that go where an index says."""

    scatter: Scatter | None = None

    @classmethod
    def of(cls, scatter: Scatter) -> ScatterKernel:
        shape = scatter.value.shape
        whole = Layout(scatter.into.shape, 0, scatter.into.strides)
        part = Part(scatter.into, Layout(shape, 0, whole.strides), scatter.value)
        return cls(shape, (), [part], scatter)

    def read(self) -> set[Buffer]:
        assert self.scatter is not None
        return reads(self.scatter)


def plan(program: Program, genome: LaneGenes) -> list[Kernel]:
    """Kernels in the order in which they run, for few threads that take many rows each."""
    statements = with_beforehand(program.statements) if genome.beforehand else program.statements
    kernels = fused(_cut(statements, genome.parts), genome.fuse)
    return [_turned(kernel) if type(kernel) is Kernel else kernel for kernel in kernels]


def fused(statements: Sequence[Statement], fuse: str) -> list[Kernel]:
    """Statements in kernels. `fuse`: what shares one: `all`, `reductions` or `none`."""
    kernels: list[Kernel] = []
    for statement in statements:
        if isinstance(statement, Product):
            kernels.append(ProductKernel.of(statement))
        elif isinstance(statement, Scan):
            kernels.append(ScanKernel.of(statement))
        elif isinstance(statement, Scatter):
            kernels.append(ScatterKernel.of(statement))
        else:
            _place(_squeezed(statement), kernels, fuse)
    return [_coalesced(kernel) if type(kernel) is Kernel else kernel for kernel in kernels]


# *** reductions to few numbers ***


def _cut(statements: Sequence[Statement], parts: int) -> list[Statement]:
    return [made for statement in statements for made in _in_parts(statement, parts)]


def _in_parts(statement: Statement, parts: int) -> list[Statement]:
    """A reduction to few numbers as two: of each part, and of the parts' results."""
    if not isinstance(statement, Reduce) or parts == 1 or not _lacks_rows(statement):
        return [statement]
    axis = _axis_to_cut(statement, parts)
    if axis is None or prod(statement.expression.shape) < MANY_ELEMENTS:
        return [statement]
    rank = len(statement.outer)
    turned = viewed(statement.expression, split(axis, parts))
    order = (axis, *(place for place in range(len(turned.shape)) if place != axis))
    partial = Buffer(f"{statement.into.name}_parts", (parts, *statement.outer), "float32", "inner")
    results = Access(partial, Layout(partial.shape, 0, partial.strides))
    first = Reduce(partial, statement.how, viewed(turned, permute(order)))
    return [first, replace(statement, expression=viewed(results, permute((*range(1, rank + 1), 0))))]


def _lacks_rows(statement: Reduce) -> bool:
    """Whether there are too few rows for threads to share; where rows lie side by side, a vector takes many at once."""
    rank = len(statement.outer)
    strides = [access.layout.strides for access in accesses(statement.expression)]
    across = rank > 0 and all(one[-1] != 1 for one in strides) and any(one[rank - 1] == 1 for one in strides)
    return prod(statement.outer) < (FEW_COLUMNS if across else FEW_ROWS)


def _axis_to_cut(statement: Reduce, parts: int) -> int | None:
    shape, first = statement.expression.shape, len(statement.outer)
    return next((axis for axis in range(first, len(shape)) if shape[axis] % parts == 0 and shape[axis] > parts), None)


# *** fusion ***


@dataclass(frozen=True)
class _Loose:
    """A statement without axes of size 1, not yet in a kernel."""

    into: Buffer
    outer: Shape
    inner: Shape
    layout: Layout
    expression: Expression
    how: Literal["sum", "max", "min", "prod"] | None = None


def _squeezed(statement: Reduce | Store) -> _Loose:
    shape = statement.expression.shape
    rank = len(statement.outer) if isinstance(statement, Reduce) else len(shape)
    ones = {axis for axis, size in enumerate(shape) if size == 1}
    if isinstance(statement, Reduce) and ones.issuperset(range(rank, len(shape))):
        ones.discard(len(shape) - 1)  # an inner loop there must be
    expression = viewed(statement.expression, drop(ones))
    outer = tuple(size for axis, size in enumerate(shape[:rank]) if axis not in ones)
    inner = tuple(size for axis, size in enumerate(shape[rank:], rank) if axis not in ones)
    if isinstance(statement, Store):
        return _Loose(statement.into, outer, inner, drop(ones)(statement.place), expression)
    return _Loose(statement.into, outer, inner, _along_rows(outer, inner), expression, statement.how)


def _place(loose: _Loose, kernels: list[Kernel], fuse: str) -> None:
    read = {access.buffer for access in accesses(loose.expression)}
    needed = [number for number, kernel in enumerate(kernels) if kernel.made() & read or _overwrites(loose, kernel)]
    joinable = kernels[max(needed, default=0) :] if _may_join(loose, fuse) else []
    for kernel in joinable:
        part = _fitted(loose, kernel, read)
        if part is not None:
            kernel.parts.append(part)
            return
    kernel = Kernel(loose.outer, loose.inner)
    kernel.parts.append(Part(loose.into, loose.layout, loose.expression, loose.how))
    kernels.append(kernel)


def _overwrites(loose: _Loose, kernel: Kernel) -> bool:
    """Whether both write to the same elements, as far as can be told."""
    return any(part.into == loose.into and not _apart(loose.into, part.layout, loose.layout) for part in kernel.parts)


def _apart(buffer: Buffer, one: Layout, other: Layout) -> bool:
    """Whether two parts of a buffer are surely different ones: along some axis the one ends before the other begins."""
    both = zip(_ranges(buffer, one), _ranges(buffer, other), strict=True)
    return any(mine.stop <= others.start or others.stop <= mine.start for mine, others in both)


def _ranges(buffer: Buffer, layout: Layout) -> list[range]:
    """Along each axis of a buffer, from where to where a layout goes; all the way, if it does not follow the axes."""
    axes = [(size, stride) for size, stride in zip(buffer.shape, buffer.strides, strict=True) if size > 1]
    sizes = {stride: size for size, stride in zip(layout.shape, layout.strides, strict=True) if size > 1}
    if not set(sizes) <= {stride for _, stride in axes}:
        return [range(size) for size, _ in axes]
    found, left = [], layout.offset
    for _, stride in axes:
        start, left = divmod(left, stride)
        found.append(range(start, start + sizes.get(stride, 1)))
    return found


def _may_join(loose: _Loose, fuse: str) -> bool:
    return fuse == "all" or (fuse == "reductions" and loose.how is not None)


def _along_rows(outer: Shape, inner: Shape) -> Layout:
    """Where a value is that there is one of for each row."""
    return Layout(outer + inner, 0, dense(outer) + (0,) * len(inner))


def _fitted(loose: _Loose, kernel: Kernel, read: set[Buffer]) -> Part | None:
    if isinstance(kernel, ScatterKernel):
        return None
    if isinstance(kernel, ProductKernel | ScanKernel):
        part = _finishing(_forward(loose, kernel), kernel) if not loose.how and read & kernel.own else None
    elif loose.how is not None:
        fits = (loose.outer, loose.inner) == (kernel.outer, kernel.inner)
        part = Part(loose.into, loose.layout, loose.expression, loose.how) if fits else None
    else:
        part = _fitted_store(loose, kernel, read)
    possible = part is not None and _is_free(part.into, kernel) and _reads_only_its_row(part, kernel)
    return part if possible else None


def _is_free(into: Buffer, kernel: Kernel) -> bool:
    """Whether a kernel can write there: slices of one buffer that go over the same loops do not meet."""
    return into not in kernel.made() or not (kernel.inner or kernel.own)


def _fitted_store(loose: _Loose, kernel: Kernel, read: set[Buffer]) -> Part | None:
    """A store whose loops, in some order or cut anew, are the kernel's, or those over its rows alone."""
    order = _order(loose.expression, kernel)
    shape = tuple(loose.outer[axis] for axis in order)
    turn = permute(order)
    if shape not in (kernel.shape, kernel.outer) and prod(shape) == prod(kernel.shape):
        shape, turn = kernel.shape, reshape(kernel.shape)
    try:
        expression, layout = viewed(loose.expression, turn), turn(loose.layout)
    except NoViewError:
        return None
    if shape == kernel.shape:
        shared = read & {access.buffer for part in kernel.parts for access in accesses(part.expression)}
        return Part(loose.into, layout, expression) if shared or read & kernel.own or not kernel.inner else None
    if shape == kernel.outer and read & kernel.own:
        stretch = _stretched(kernel)
        return Part(loose.into, stretch(layout), viewed(expression, stretch))
    return None


def _forward(loose: _Loose, kernel: Kernel) -> _Loose:
    """The same store, turned round along axes on which it reads from behind what the kernel found."""
    known = next(access for access in accesses(loose.expression) if access.buffer in kernel.own)
    for axis, stride in enumerate(known.layout.strides):
        if stride < 0:
            turn = flip(axis)
            loose = replace(loose, layout=turn(loose.layout), expression=viewed(loose.expression, turn))
    return loose


def _finishing(loose: _Loose, kernel: ProductKernel | ScanKernel) -> Part | None:
    """A store that goes once over the elements of the product or the scan."""
    if prod(loose.outer) != prod(kernel.outer):
        return None
    view, turn = reshape(kernel.parts[0].into.shape), permute(tuple(range(len(kernel.outer))))
    if isinstance(kernel, ScanKernel):
        turn = permute(kernel.order)
    try:
        layout = turn(view(loose.layout))
        return Part(loose.into, layout, viewed(viewed(loose.expression, view), turn))
    except NoViewError:
        return None


def _order(expression: Expression, kernel: Kernel) -> tuple[int, ...]:
    """Axes of the rows first, as an access to what the kernel found for its rows tells them."""
    known = next((access for access in accesses(expression) if access.buffer in kernel.own), None)
    axes = range(len(expression.shape))
    if known is None:
        return tuple(axes)
    strides = known.layout.strides
    rows = sorted((axis for axis in axes if strides[axis]), key=lambda axis: -strides[axis])
    return (*rows, *(axis for axis in axes if not strides[axis]))


def _stretched(kernel: Kernel) -> View:
    """What is the same all along a row, as seen from within it."""

    def view(layout: Layout) -> Layout:
        return Layout(kernel.shape, layout.offset, layout.strides + (0,) * len(kernel.inner))

    return view


def _reads_only_its_row(part: Part, kernel: Kernel) -> bool:
    wanted = kernel.at_hand
    stored = {one.into for one in kernel.parts if not one.how}
    mine = [access for access in accesses(part.expression) if access.buffer in kernel.own]
    return not (reads(Store(part.into, part.expression)) & stored) and all(one.layout == wanted for one in mine)


# *** fewer, longer loops ***


def _coalesced(kernel: Kernel) -> Kernel:
    """Neighbouring loops are made one wherever all addresses allow it."""
    for place in reversed(range(len(kernel.shape) - 1)):
        if place != len(kernel.outer) - 1:
            kernel = _merged(kernel, place)
    return kernel


def _merged(kernel: Kernel, place: int) -> Kernel:
    shape, rank = kernel.shape, len(kernel.outer)
    joined = (*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :])
    view = reshape(joined)
    try:
        parts = [_reviewed(part, view) for part in kernel.parts]
    except NoViewError:
        return kernel
    rank -= place < rank
    return Kernel(joined[:rank], joined[rank:], parts)


def _reviewed(part: Part, view: View) -> Part:
    return replace(part, layout=view(part.layout), expression=viewed(part.expression, view))


# *** loops in another order ***


def _turned(kernel: Kernel) -> Kernel:
    """A kernel without rows whose last loop is too short for a vector goes last along another one, if that is long."""
    long = [axis for axis, size in enumerate(kernel.outer) if size >= LONG]
    if kernel.inner or kernel.outer[-1:] >= (SHORT,) or not long:
        return kernel
    last = max(long, key=lambda axis: (_side_by_side(kernel, axis), axis))
    order = (*(axis for axis in range(len(kernel.outer)) if axis != last), last)
    view = permute(order)
    return Kernel(tuple(kernel.outer[axis] for axis in order), (), [_reviewed(part, view) for part in kernel.parts])


def _side_by_side(kernel: Kernel, axis: int) -> int:
    """How many addresses run along an axis or do not move along it."""
    layouts = [access.layout for part in kernel.parts for access in accesses(part.expression)]
    layouts += [part.layout for part in kernel.parts]
    return sum(layout.strides[axis] in (0, 1) for layout in layouts)


# *** the order within a kernel ***


def levels(kernel: Kernel, online: dict[Buffer, Buffer]) -> dict[Buffer, int]:
    """In which pass over its row each value is found. `online`: sums that are found along with a maximum."""
    found: dict[Buffer, int] = {}
    for part in kernel.parts:
        if part.into in online:
            found[part.into] = found[online[part.into]]
            continue
        below = [found[access.buffer] + 1 for access in accesses(part.expression) if access.buffer in kernel.own]
        found[part.into] = max(below, default=0)
    return found


def online_pairs(kernel: Kernel) -> dict[Buffer, Buffer]:
    """Sums of exponentials below a maximum of the same kernel, with that maximum."""
    tops = {part.into: part.expression for part in kernel.parts if part.how == "max"}
    pairs: dict[Buffer, Buffer] = {}
    for part in kernel.parts:
        top = _top_below(part.expression) if part.how == "sum" else None
        if top is not None and top in tops and top not in pairs.values() and _shifted(part.expression) == tops[top]:
            pairs[part.into] = top
    return pairs


def _shifted(expression: Expression) -> Expression | None:
    """x, of exp(x - something)."""
    match expression:
        case Apply("exp", (Apply("sub", (value, _)),)):
            return value
    return None


def _top_below(expression: Expression) -> Buffer | None:
    """m, of exp(x - m), where m may be replaced by 0 if it is infinite."""
    match expression:
        case Apply("exp", (Apply("sub", (_, Access(buffer=buffer))),)):
            return buffer
        case Apply("exp", (Apply("sub", (_, Apply("where", (_, Number(0.0), Access(buffer=buffer))))),)):
            return buffer
    return None


def with_one_row(kernel: Kernel) -> Kernel:
    """A kernel without rows as one of a single row."""

    def view(layout: Layout) -> Layout:
        return Layout((1, *layout.shape), layout.offset, (0, *layout.strides))

    return Kernel((1,), kernel.inner, [_reviewed(part, view) for part in kernel.parts])
