"""From a captured graph to the intermediate form. Operators are registered by name in the files beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Literal

from kernelwright.propose.builtin._capture import Graph, Node, Source
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import (
    ELEMENTS,
    KINDS,
    Access,
    Apply,
    Buffer,
    Expression,
    Kind,
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
    dense,
    reads,
    walk,
)
from kernelwright.propose.builtin._views import (
    NoViewError,
    View,
    broadcast,
    narrow,
    permute,
    rebuffered,
    replaced,
    reshape,
    unsqueeze,
    viewed,
)

Value = Expression | tuple[Expression, ...]
Operator = Callable[["Lowering", Node], Value]
OPERATORS: dict[str, Operator] = {}
# Beyond so many operations a compiler takes minutes.
MOST_STEPS = 8000
RANKS: dict[Kind, int] = {"bool": 0, "int": 1, "float": 2}
DTYPES: dict[Kind, str] = {"float": "float32", "int": "int64", "bool": "bool"}


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Registers what an operator of torch means here, under its full name without `aten.`."""

    def register(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return register


def lower(graph: Graph) -> Program:
    """What the graph computes, as a program. Raises CannotWriteError naming the operator that stands in the way."""
    return Lowering(graph).program()


class Lowering:
    """Expressions by the name of the node they stand for, and the statements that were needed so far."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._values: dict[str, Value] = {}
        self._statements: list[Statement] = []

    def program(self) -> Program:
        used = _used(self._graph)
        for source in self._graph.sources:
            if source.node in used and source.shape is not None:
                self._values[source.node] = self._sourced(source)
        for node in self._graph.nodes:
            if node.name in used:
                self._values[node.name] = self._lowered(node)
        outputs = tuple(self._output(name, f"y{place}") for place, name in enumerate(self._graph.outputs))
        new = enumerate(self._graph.changed)
        changed = tuple((target, self._output(name, f"z{place}")) for place, (target, name) in new)
        wanted = (*outputs, *(buffer for _, buffer in changed))
        needed = _in_place(made_where_read(_needed(self._statements, wanted)))
        steps = sum(_steps(statement) for statement in needed)
        if steps > MOST_STEPS:
            what = f"the reference comes apart into {steps} operations, as a loop over many steps does;"
            raise CannotWriteError(f"{what} the built-in synthesiser writes {MOST_STEPS} at most.")
        return Program(needed, outputs, changed)

    def _sourced(self, source: Source) -> Expression:
        if source.kind == "BUFFER" and source.target not in {weight.name for weight in self._graph.state}:
            raise CannotWriteError(f"the buffer {source.target} of the reference is not part of its state.")
        return _sourced(source)

    def _lowered(self, node: Node) -> Value:
        name = node.op.removeprefix("aten.")
        if name not in OPERATORS:
            raise CannotWriteError(f"the built-in synthesiser does not know the operator {node.op}.")
        if node.dtype is not None and node.dtype not in KINDS:
            what = f"{node.op} gives {node.dtype}; the built-in synthesiser computes in float32 and integers."
            raise CannotWriteError(what)
        return OPERATORS[name](self, node)

    def _output(self, name: str, called: str) -> Buffer:
        expression = self.value(name)
        dtype = self._dtype_of(name)
        buffer = Buffer(called, expression.shape, dtype, "output")
        self._statements.append(Store(buffer, self.cast(expression, KINDS[dtype])))
        return buffer

    def _dtype_of(self, name: str) -> str:
        everyone: list[Node | Source] = [*self._graph.nodes, *self._graph.sources]
        found = next(one for one in everyone if (one.name if isinstance(one, Node) else one.node) == name)
        return found.dtype or "float32"

    # What operators are lowered with

    def value(self, name: str) -> Expression:
        found = self._values[name]
        assert not isinstance(found, tuple)
        return found

    def values(self, name: str) -> Value:
        return self._values[name]

    def operand(self, argument: Any, shape: Shape | None = None) -> Expression:
        """An argument as an expression, over this shape where one is given."""
        if isinstance(argument, dict) and "node" in argument:
            found = self.value(argument["node"])
        else:
            found = number(plain(argument))
        return found if shape is None else viewed(found, broadcast(shape))

    def operand_over(self, expression: Expression, shape: Shape) -> Expression:
        return viewed(expression, broadcast(shape))

    def operands(self, node: Node, *arguments: Any, kind: Kind | None = None) -> list[Expression]:
        """Arguments over the node's shape, all of one kind: the given one, or the widest of theirs."""
        assert node.shape is not None
        found = [self.operand(argument, node.shape) for argument in arguments]
        kinds: list[Kind] = [one.kind for one in found]
        wanted: Kind = kind if kind is not None else max(kinds, key=RANKS.__getitem__)
        return [self.cast(one, wanted) for one in found]

    def cast(self, expression: Expression, kind: Kind) -> Expression:
        if expression.kind == kind:
            return expression
        if isinstance(expression, Number):
            value = expression.value
            turned = float(value) if kind == "float" else bool(value) if kind == "bool" else int(value)
            return Number(turned, kind, expression.shape)
        return Apply(f"{kind}_of_{expression.kind}", (expression,), kind)

    def view(self, expression: Expression, view: View) -> Expression:
        """The expression at other addresses; written down first where it cannot be had otherwise."""
        try:
            return viewed(expression, view)
        except NoViewError:
            return viewed(self.written(expression), view)

    def written(self, expression: Expression) -> Access:
        """The expression as something that lies densely in memory."""
        if isinstance(expression, Access) and not expression.picks and _is_whole(expression):
            return expression
        buffer = Buffer(f"t{len(self._statements)}", expression.shape, DTYPES[expression.kind], "inner")
        self._statements.append(Store(buffer, expression))
        return Access(buffer, Layout(buffer.shape, 0, buffer.strides))

    def join(self, values: Sequence[Expression], axis: int, shape: Shape, kind: Kind) -> Expression:
        """Values one behind the other along an axis, written down in turn."""
        buffer = Buffer(f"t{len(self._statements)}", shape, DTYPES[kind], "inner")
        whole, start = Layout(shape, 0, dense(shape)), 0
        for value in values:
            part = narrow(axis, start, value.shape[axis])(whole)
            self._statements.append(Store(buffer, self.cast(value, kind), part))
            start += value.shape[axis]
        return Access(buffer, whole)

    def interleave(self, parts: Sequence[tuple[tuple[int, ...], Expression]], shape: Shape, step: Shape) -> Expression:
        """Values that are `step` apart along the last axes, each set with where it begins, written down in turn."""
        buffer = Buffer(f"t{len(self._statements)}", shape, "float32", "inner")
        whole, first = Layout(shape, 0, dense(shape)), len(shape) - len(step)
        for starts, value in parts:
            part = whole
            for axis, (start, by) in enumerate(zip(starts, step, strict=True), first):
                part = narrow(axis, start, value.shape[axis], by)(part)
            self._statements.append(Store(buffer, value, part))
        return Access(buffer, whole)

    def pad(self, value: Expression, before: Shape, fill: float, after: Shape | None = None) -> Expression:
        """A value with so many elements around it along its last axes, as many behind as before if not said."""
        rank, after = len(value.shape) - len(before), after or before
        sizes = zip(value.shape[rank:], before, after, strict=True)
        shape = (*value.shape[:rank], *(size + low + high for size, low, high in sizes))
        buffer = Buffer(f"t{len(self._statements)}", shape, DTYPES[value.kind], "inner")
        inside = whole = Layout(shape, 0, dense(shape))
        for axis, (low, high) in enumerate(zip(before, after, strict=True), rank):
            inside = narrow(axis, low, value.shape[axis])(inside)
            edges = [(0, low), (shape[axis] - high, high)]
            for edge in (narrow(axis, start, size)(whole) for start, size in edges if size):
                filled = self.cast(Number(fill, "float", edge.shape), value.kind)
                self._statements.append(Store(buffer, filled, edge))
        self._statements.append(Store(buffer, value, inside))
        return Access(buffer, whole)

    def reduce(
        self,
        how: Literal["sum", "max", "min", "prod"],
        expression: Expression,
        axes: Sequence[int] | None,
        keep: bool = False,
    ) -> Expression:
        """The expression reduced along axes, all if none are named."""
        rank = len(expression.shape)
        chosen = sorted(axis % rank for axis in axes) if axes else list(range(rank))
        kept = [axis for axis in range(rank) if axis not in chosen]
        turned = viewed(self.cast(expression, "float"), permute((*kept, *chosen)))
        shape = tuple(expression.shape[axis] for axis in kept)
        if prod(expression.shape) == 0:
            raise CannotWriteError("a reduction of no elements is nothing that the built-in synthesiser writes.")
        result = self._reduced(how, turned, shape)
        for axis in chosen if keep else ():
            result = viewed(result, unsqueeze(axis))
        return result

    def scan(self, how: Literal["sum", "prod"], expression: Expression, axis: int) -> Expression:
        """The expression gathered up along an axis."""
        turned = self.cast(expression, "float")
        buffer = Buffer(f"s{len(self._statements)}", turned.shape, "float32", "inner")
        self._statements.append(Scan(buffer, how, turned, axis))
        return Access(buffer, Layout(buffer.shape, 0, buffer.strides))

    def scatter(
        self, start: Expression, index: Expression, value: Expression, axis: int, *, adds: bool = True
    ) -> Expression:
        """A value changed at the places that an index says."""
        buffer = Buffer(f"s{len(self._statements)}", start.shape, DTYPES[start.kind], "inner")
        self._statements.append(Scatter(buffer, start, index, value, axis, adds))
        return Access(buffer, Layout(buffer.shape, 0, buffer.strides))

    def multiply(self, left: Expression, right: Expression) -> Expression:
        """Products of matrices; what is computed is written down first."""
        shape = (*left.shape[:-1], right.shape[-1])
        if shape[-1] == 1 and shape[-2] > 1:  # lanes run along the last axis of the result
            return viewed(self.multiply(viewed(right, _turned(right)), viewed(left, _turned(left))), _turned(left))
        if prod(shape) * left.shape[-1] == 0:
            raise CannotWriteError("a product of empty matrices is nothing that the built-in synthesiser writes.")
        buffer = Buffer(f"p{len(self._statements)}", shape, "float32", "inner")
        self._statements.append(Product(buffer, self._in_memory(left), self._in_memory(right)))
        return Access(buffer, Layout(shape, 0, dense(shape)))

    def multiply_windows(self, left: Expression, right: Access, inner: int, across: int) -> Expression:
        """Products of matrices whose right one has its rows and columns along several axes."""
        batch, rows = left.shape[:-2], left.shape[-2]
        shape = (prod(batch), rows, prod(right.shape[-across:]))
        buffer = Buffer(f"p{len(self._statements)}", shape, "float32", "inner")
        self._statements.append(Product(buffer, self._in_memory(left), right, inner, across))
        return Access(buffer, Layout(shape, 0, dense(shape)))

    def _in_memory(self, expression: Expression) -> Access:
        """What already lies in memory in whatever order, or is written there."""
        if isinstance(expression, Access) and not expression.picks and expression.buffer.dtype == "float32":
            return expression
        return self.written(self.cast(expression, "float"))

    def _reduced(self, how: Literal["sum", "max", "min", "prod"], turned: Expression, shape: Shape) -> Expression:
        for made in self._statements:  # the same reduction is made once
            if isinstance(made, Reduce) and made.how == how and made.expression == turned and made.outer == shape:
                return Access(made.into, Layout(shape, 0, dense(shape)))
        buffer = Buffer(f"r{len(self._statements)}", shape, "float32", "inner")
        self._statements.append(Reduce(buffer, how, turned))
        return Access(buffer, Layout(shape, 0, dense(shape)))


def made_where_read(statements: Sequence[Statement]) -> Sequence[Statement]:
    """What was written down to be read once, element by element in another shape, is made where it is read."""
    for one in statements:
        reader = _only_reader(one, statements) if isinstance(one, Store) and one.into.role == "inner" else None
        merged = _merged(one, reader) if isinstance(one, Store) and reader else None
        if merged is not None:
            statements = [merged if other is reader else other for other in statements if other is not one]
    return statements


def _only_reader(store: Store, statements: Sequence[Statement]) -> Store | None:
    """The store that alone reads what this one alone writes."""
    makers = [one for one in statements if one.into == store.into]
    readers = [one for one in statements if store.into in reads(one)]
    alone = len(makers) == len(readers) == 1 and not store.layout
    return next((one for one in readers if alone and isinstance(one, Store) and not one.layout), None)


def _merged(store: Store, reader: Store) -> Store | None:
    """Both as one that goes over the shape of the first."""
    shape = store.into.shape
    layout = Layout(shape, 0, dense(shape))
    if prod(shape) != prod(reader.into.shape):
        return None
    alike = reshape(shape)
    try:
        expression = viewed(reader.expression, alike)
    except NoViewError:
        return None
    made = replaced(expression, {Access(store.into, alike(layout)): store.expression})
    merged = Store(reader.into, made, layout)
    return merged if store.into not in reads(merged) else None


def _in_place(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """What was put together piece by piece only to be copied to an output is put together there."""
    pieced = {one.into for one in statements if isinstance(one, Scatter) or (isinstance(one, Store) and one.layout)}
    moved: dict[Buffer, Buffer] = {}
    kept: list[Statement] = []
    for one in statements:
        match one:
            case Store(into, Access(buffer, picks=()) as access, None) if (
                buffer in pieced and buffer not in moved and _alike(into, buffer) and _is_whole(access)
            ):
                moved[buffer] = into
            case _:
                kept.append(one)
    return tuple(_renamed(one, moved) for one in kept) if moved else tuple(kept)


def _alike(one: Buffer, other: Buffer) -> bool:
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def _renamed(statement: Statement, moved: Mapping[Buffer, Buffer]) -> Statement:
    """The statement with other buffers in the place of these, alike but for the name."""
    into = moved.get(statement.into, statement.into)
    match statement:
        case Store(expression=expression):
            return Store(into, rebuffered(expression, moved), statement.place)
        case Reduce() | Scan():
            return replace(statement, expression=rebuffered(statement.expression, moved))
        case Product(left=left, right=right):
            there = {access.buffer: moved.get(access.buffer, access.buffer) for access in (left, right)}
            left, right = (replace(access, buffer=there[access.buffer]) for access in (left, right))
            return replace(statement, left=left, right=right)
        case Scatter(start=start, index=index, value=value):
            return replace(
                statement,
                into=into,
                start=rebuffered(start, moved),
                index=rebuffered(index, moved),
                value=rebuffered(value, moved),
            )


def _steps(statement: Statement) -> int:
    return 1 if isinstance(statement, Product | Scatter) else sum(1 for _ in walk(statement.expression))


def _turned(matrix: Expression) -> View:
    """Rows become columns."""
    rank = len(matrix.shape)
    return permute((*range(rank - 2), rank - 1, rank - 2))


def plain(argument: Any) -> float:
    """A number as it was meant: JSON has no word for some."""
    if isinstance(argument, dict) and "number" in argument:
        return float(argument["number"])
    if isinstance(argument, bool | int | float):
        return argument
    raise CannotWriteError(f"the built-in synthesiser cannot use the argument {argument!r}.")


def number(value: float) -> Number:
    kind: Kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    return Number(value, kind, ())


def argument(node: Node, place: int, name: str, default: Any = None) -> Any:
    """An argument by its place or its name."""
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def _sourced(source: Source) -> Expression:
    assert source.shape is not None
    if source.kind == "CONSTANT_TENSOR":
        return _constant(source)
    if source.dtype not in ELEMENTS:
        named = source.target or source.node
        what = f"{named} is {source.dtype}; the built-in synthesiser computes in float32 and integers."
        raise CannotWriteError(what)
    inputs = source.kind == "USER_INPUT"
    name = f"x{source.place}" if inputs else str(source.target)
    buffer = Buffer(name, source.shape, str(source.dtype), "input" if inputs else "weight")
    return Access(buffer, Layout(buffer.shape, 0, buffer.strides))


def _constant(source: Source) -> Number:
    if source.value is None:
        raise CannotWriteError(f"the reference holds a tensor of constants, {source.target}, that is no buffer of it.")
    assert source.shape is not None
    found = number(source.value)
    return Number(found.value, found.kind, source.shape)


def _is_whole(access: Access) -> bool:
    layout = access.layout
    real = [(stride, wanted) for size, stride, wanted in _axes(layout) if size > 1]
    return layout.offset == 0 and prod(layout.shape) == prod(access.buffer.shape) and all(a == b for a, b in real)


def _axes(layout: Layout) -> list[tuple[int, int, int]]:
    return list(zip(layout.shape, layout.strides, dense(layout.shape), strict=True))


def _used(graph: Graph) -> set[str]:
    """Nodes that outputs depend on: assertions and the like are left out."""
    by_name = {node.name: node for node in graph.nodes}
    used: set[str] = set()
    waiting = [*graph.outputs, *(name for _, name in graph.changed)]
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        used.add(name)
        if name in by_name:
            waiting.extend(_mentioned([*by_name[name].args, *by_name[name].kwargs.values()]))
    return used


def _mentioned(argument: Any) -> list[str]:
    if isinstance(argument, list):
        return [name for item in argument for name in _mentioned(item)]
    return [argument["node"]] if isinstance(argument, dict) and "node" in argument else []


def _needed(statements: Sequence[Statement], outputs: Sequence[Buffer]) -> tuple[Statement, ...]:
    wanted: set[Buffer] = set(outputs)
    kept: list[Statement] = []
    for statement in reversed(statements):
        if statement.into in wanted:
            wanted |= reads(statement)
            kept.insert(0, statement)
    return tuple(kept)
