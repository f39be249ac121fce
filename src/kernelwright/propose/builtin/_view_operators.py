"""What torch's operators mean: views, copies, constants, and reading at places that are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

from kernelwright.propose.builtin._capture import Node
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import KINDS, Access, Apply, Expression, Kind, Layout, Number, Place, Shape
from kernelwright.propose.builtin._lower import Lowering, Value, argument, operator, plain
from kernelwright.propose.builtin._views import (
    broadcast,
    diagonal,
    drop,
    flip,
    narrow,
    narrow_to,
    permute,
    reshape,
    unsqueeze,
    viewed,
)

# *** the same values ***


@operator("clone.default", "alias.default", "lift_fresh_copy.default", "detach.default", "contiguous.default")
def _same(lowering: Lowering, node: Node) -> Value:
    return lowering.operand(node.args[0])


@operator("_to_copy.default")
def _converted(lowering: Lowering, node: Node) -> Value:
    assert node.dtype is not None
    return lowering.cast(lowering.operand(node.args[0]), KINDS[node.dtype])


@operator("getitem")
def _item(lowering: Lowering, node: Node) -> Value:
    values = lowering.values(node.args[0]["node"])
    place = int(node.args[1])
    if not isinstance(values, tuple) or place >= len(values):
        raise CannotWriteError("the built-in synthesiser does not know that result of an operator with several.")
    return values[place]


# *** views ***


@operator("view.default", "reshape.default", "_unsafe_view.default")
def _reshape(lowering: Lowering, node: Node) -> Value:
    assert node.shape is not None
    return lowering.view(lowering.operand(node.args[0]), reshape(node.shape))


@operator("expand.default")
def _expand(lowering: Lowering, node: Node) -> Value:
    assert node.shape is not None
    return lowering.operand(node.args[0], node.shape)


@operator("permute.default")
def _permute(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    return viewed(value, permute(tuple(axis % len(value.shape) for axis in node.args[1])))


@operator("transpose.int", "t.default")
def _transpose(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    order = list(range(len(value.shape)))
    one, other = node.args[1:3] if len(node.args) > 1 else (0, len(order) - 1)
    order[one], order[other] = order[other], order[one]
    return viewed(value, permute(tuple(order)))


@operator("unsqueeze.default")
def _unsqueeze(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    return viewed(value, unsqueeze(int(node.args[1]) % (len(value.shape) + 1)))


@operator("squeeze.dims", "squeeze.dim", "squeeze.default")
def _squeeze(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    named = argument(node, 1, "dim", list(range(len(value.shape))))
    axes = {axis % len(value.shape) for axis in ([named] if isinstance(named, int) else named)}
    return viewed(value, drop({axis for axis in axes if value.shape[axis] == 1}))


@operator("slice.Tensor")
def _slice(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    axis = int(argument(node, 1, "dim", 0)) % len(value.shape)
    asked = slice(argument(node, 2, "start"), argument(node, 3, "end"), argument(node, 4, "step", 1))
    chosen = range(value.shape[axis])[asked]
    return viewed(value, narrow(axis, chosen.start, len(chosen), chosen.step))


@operator("select.int")
def _select(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    axis = int(node.args[1]) % len(value.shape)
    one = narrow(axis, int(node.args[2]) % value.shape[axis], 1)
    return viewed(viewed(value, one), drop({axis}))


@operator("flip.default")
def _flip(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    for axis in node.args[1]:
        value = viewed(value, flip(axis % len(value.shape)))
    return value


@operator("split_with_sizes.default")
def _split(lowering: Lowering, node: Node) -> Value:
    value, sizes = lowering.operand(node.args[0]), node.args[1]
    axis = int(argument(node, 2, "dim", 0)) % len(value.shape)
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return tuple(viewed(value, narrow(axis, start, size)) for start, size in zip(starts, sizes, strict=True))


@operator("cat.default")
def _cat(lowering: Lowering, node: Node) -> Value:
    assert node.shape is not None
    assert node.dtype is not None
    values = [lowering.operand(one) for one in node.args[0]]
    axis = int(argument(node, 1, "dim", 0)) % len(node.shape)
    return lowering.join([one for one in values if one.shape[axis]], axis, node.shape, KINDS[node.dtype])


# *** constants ***


@operator("full.default", "full_like.default", "scalar_tensor.default")
def _full(lowering: Lowering, node: Node) -> Value:
    assert node.shape is not None
    assert node.dtype is not None
    value = node.args[0] if node.op.endswith("scalar_tensor.default") else node.args[1]
    return lowering.cast(Number(plain(value), "float", node.shape), KINDS[node.dtype])


@operator("arange.start_step", "iota.default", "prims.iota.default")
def _arange(lowering: Lowering, node: Node) -> Value:
    assert node.shape is not None
    if node.op.startswith("prims"):
        start, step = node.kwargs.get("start", 0), node.kwargs.get("step", 1)
    else:
        start, step = node.args[0], argument(node, 2, "step", 1)
    kind: Kind = KINDS[node.dtype or "int64"]
    return lowering.cast(Place(Layout(node.shape, int(start), (int(step),))), kind)


# *** reading where another value says ***


@operator("gather.default")
def _gather(lowering: Lowering, node: Node) -> Value:
    value, index = lowering.operand(node.args[0]), lowering.operand(node.args[2])
    axis = int(node.args[1]) % len(value.shape)
    if isinstance(value, Access):
        return _gathered(value, axis, index)
    # What is computed is computed for what is picked alone, if that is not more.
    few = prod(index.shape) <= prod(value.shape)
    return lowering.written(_gathered(value, axis, index)) if few else _gathered(lowering.written(value), axis, index)


def _gathered(value: Expression, axis: int, index: Expression) -> Expression:
    """A value at places along an axis that an index says."""
    made: dict[Expression, Expression] = {}

    def turn(part: Expression) -> Expression:
        if part not in made:
            made[part] = _part_gathered(part, axis, index, turn)
        return made[part]

    return turn(value)


def _part_gathered(
    part: Expression, axis: int, index: Expression, turn: Callable[[Expression], Expression]
) -> Expression:
    match part:
        case Access(layout=layout, picks=picks):
            inside = tuple((turn(pick), stride) for pick, stride in picks)
            moved = ((index, layout.strides[axis]),) if layout.strides[axis] else ()
            return replace(part, layout=_without(layout, axis, index.shape), picks=inside + moved)
        case Place(layout=layout):
            steps = Number(layout.strides[axis], "int", index.shape)
            moved_by = Apply("mul", (index, steps), "int")
            return Apply("add", (Place(_without(layout, axis, index.shape)), moved_by), "int")
        case Number():
            return replace(part, shape=index.shape)
        case Apply(function=function, parts=parts, kind=kind):
            return Apply(function, tuple(map(turn, parts)), kind)


def _without(layout: Layout, axis: int, shape: Shape) -> Layout:
    """The address of the first elements along the other axes."""
    strides = tuple(0 if place == axis else stride for place, stride in enumerate(layout.strides))
    return Layout(shape, layout.offset, strides)


@operator("embedding.default")
def _embedding(lowering: Lowering, node: Node) -> Value:
    table = lowering.written(lowering.operand(node.args[0]))
    return _rows(table, lowering.operand(node.args[1]))


@operator("index_select.default")
def _index_select(lowering: Lowering, node: Node) -> Value:
    table = lowering.written(lowering.operand(node.args[0]))
    if int(node.args[1]) % len(table.shape):
        raise CannotWriteError("the built-in synthesiser knows the operator aten.index_select on the first axis only.")
    return _rows(table, lowering.operand(node.args[2]))


@operator("index.Tensor", "_unsafe_index.Tensor")
def _index(lowering: Lowering, node: Node) -> Value:
    """The axes that are indexed become those of the indexes, in the place of the first."""
    table, given = lowering.written(lowering.operand(node.args[0])), node.args[1]
    axes = [axis for axis, one in enumerate(given) if one is not None]
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise CannotWriteError(
            "the built-in synthesiser knows the operator aten.index.Tensor on neighbouring axes only."
        )
    indexes = [_index_on(lowering, given[axis], table.shape[axis]) for axis in axes]
    assert node.shape is not None
    first, strides = axes[0], table.layout.strides
    between = len(node.shape) - len(table.shape) + len(axes)
    layout = Layout(node.shape, 0, (*strides[:first], *(0 for _ in range(between)), *strides[axes[-1] + 1 :]))
    behind = len(table.shape) - axes[-1] - 1
    picks = [(_stretched(index, behind, node.shape), strides[axis]) for index, axis in zip(indexes, axes, strict=True)]
    return Access(table.buffer, layout, tuple(picks))


def _index_on(lowering: Lowering, given: Any, size: int) -> Expression:
    index = lowering.operand(given)
    if index.kind != "int":
        raise CannotWriteError("the built-in synthesiser does not know the operator aten.index.Tensor with a mask.")
    return _from_the_end(index, size)


def _stretched(index: Expression, behind: int, shape: Shape) -> Expression:
    """An index over a whole shape, of which so many axes lie behind its own."""
    for _ in range(behind):
        index = viewed(index, unsqueeze(len(index.shape)))
    return viewed(index, broadcast(shape))


def _from_the_end(index: Expression, size: int) -> Expression:
    below = Apply("lt", (index, Number(0, "int", index.shape)), "bool")
    moved = Apply("add", (index, Number(size, "int", index.shape)), "int")
    return Apply("where", (below, moved, index), "int")


def _rows(table: Access, index: Expression) -> Expression:
    """Whole slices of the first axis, as many as the index has elements."""
    shape = (*index.shape, *table.shape[1:])
    over = index
    for _ in table.shape[1:]:
        over = viewed(over, unsqueeze(len(over.shape)))
    layout = Layout(shape, 0, ((0,) * len(index.shape)) + table.layout.strides[1:])
    return _picked(table, layout, viewed(over, broadcast(shape)), table.layout.strides[0])


def _picked(table: Access, layout: Layout, index: Expression, stride: int) -> Expression:
    return Access(table.buffer, layout, ((index, stride),))


@operator("diagonal.default")
def _diagonal(lowering: Lowering, node: Node) -> Value:
    value = lowering.operand(node.args[0])
    rank = len(value.shape)
    offset, one, other = argument(node, 1, "offset", 0), argument(node, 2, "dim1", 0), argument(node, 3, "dim2", 1)
    assert node.shape is not None
    return viewed(value, diagonal(int(offset), one % rank, other % rank, node.shape[-1]))


# *** writing where another value says ***


@operator("scatter_add.default", "scatter.src", "scatter.value")
def _scatter(lowering: Lowering, node: Node) -> Value:
    start, index = lowering.operand(node.args[0]), lowering.operand(node.args[2])
    axis = int(node.args[1]) % len(start.shape)
    given = lowering.operand(node.args[3])
    value = viewed(given, narrow_to(index.shape) if given.shape else broadcast(index.shape))
    adds = "scatter_add" in node.op
    return lowering.scatter(start, index, lowering.cast(value, start.kind), axis, adds=adds)


@operator("index_add.default")
def _index_add(lowering: Lowering, node: Node) -> Value:
    start, value = lowering.operand(node.args[0]), lowering.operand(node.args[3])
    axis = int(node.args[1]) % len(start.shape)
    if argument(node, 4, "alpha", 1) != 1:
        raise CannotWriteError("the built-in synthesiser does not know the operator aten.index_add with alpha.")
    index = _stretched(lowering.operand(node.args[2]), len(start.shape) - axis - 1, value.shape)
    return lowering.scatter(start, index, lowering.cast(value, start.kind), axis)


@operator("index_put.default")
def _index_put(lowering: Lowering, node: Node) -> Value:
    start, given = lowering.operand(node.args[0]), [one for one in node.args[1] if one is not None]
    if len(given) != 1 or node.args[1][0] is None:
        raise CannotWriteError("the built-in synthesiser knows the operator aten.index_put on the first axis only.")
    index = _index_on(lowering, given[0], start.shape[0])
    if len(index.shape) != 1:
        raise CannotWriteError(
            "the built-in synthesiser knows the operator aten.index_put with one row of indexes only."
        )
    shape = (index.shape[0], *start.shape[1:])
    value = lowering.cast(lowering.operand(node.args[2], shape), start.kind)
    adds = bool(argument(node, 3, "accumulate", False))
    return lowering.scatter(start, _stretched(index, len(shape) - 1, shape), value, 0, adds=adds)
