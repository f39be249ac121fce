"""What torch's operators mean: whatever slides a window over its input. A window is an address with more axes."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Literal

from kernelwright.propose.builtin._capture import Node
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import Access, Apply, Expression, Layout, Number, Place, Shape
from kernelwright.propose.builtin._lower import Lowering, Value, argument, operator, plain
from kernelwright.propose.builtin._operators import constant, mean, of
from kernelwright.propose.builtin._views import View, broadcast, narrow, permute, reshape, split, unsqueeze, viewed

# A convolution that makes fewer channels of a group is no product worth the name.
FEWEST_ROWS = 4


def window(first: int, size: Shape, step: Shape, gap: Shape) -> View:
    """From axis `first` on, each axis becomes the places of a window, and the window's own axes come last."""

    def view(layout: Layout) -> Layout:
        shape, strides = layout.shape, layout.strides
        places = [
            (length - apart * (wide - 1) - 1) // by + 1
            for length, wide, by, apart in zip(shape[first:], size, step, gap, strict=True)
        ]
        steps = [stride * by for stride, by in zip(strides[first:], step, strict=True)]
        inside = [stride * apart for stride, apart in zip(strides[first:], gap, strict=True)]
        return Layout((*shape[:first], *places, *size), layout.offset, (*strides[:first], *steps, *inside))

    return view


def windows(
    lowering: Lowering, value: Expression, size: Shape, *, step: Shape, pad: Shape, gap: Shape, fill: float
) -> Expression:
    """A value as seen through windows along its last axes."""
    seen = value if isinstance(value, Access) else lowering.written(value)
    padded = lowering.pad(seen, pad, fill) if any(pad) else seen
    return viewed(padded, window(len(value.shape) - len(size), size, step, gap))


def _sizes(given: Any, rank: int, usual: int | None = None) -> Shape:
    """One number for all axes, or one for each."""
    found = [given] if isinstance(given, int) else given or ([] if usual is None else [usual])
    return tuple(found) * rank if len(found) == 1 else tuple(found)


# *** pooling ***


def _pooled(lowering: Lowering, node: Node, how: Literal["sum", "max"], ceil: Any, gap: Any, fill: float) -> Expression:
    rank = _rank(node)
    if ceil:
        raise CannotWriteError(f"the built-in synthesiser does not know the operator {node.op} with ceil_mode.")
    size = _sizes(node.args[1], rank)
    step = _sizes(argument(node, 2, "stride"), rank) or size
    pad = _sizes(argument(node, 3, "padding", 0), rank)
    value = lowering.operand(node.args[0])
    seen = windows(lowering, value, size, step=step, pad=pad, gap=_sizes(gap, rank), fill=fill)
    return lowering.reduce(how, seen, list(range(-rank, 0)))


def _rank(node: Node) -> int:
    return 3 if "3d" in node.op else 2 if "2d" in node.op else 1


@operator("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def _max_pool(lowering: Lowering, node: Node) -> Value:
    """Only the values: where they were found is not known."""
    gap, ceil = argument(node, 4, "dilation", 1), argument(node, 5, "ceil_mode", False)
    return (_pooled(lowering, node, "max", ceil, gap, -math.inf),)


@operator("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def _avg_pool(lowering: Lowering, node: Node) -> Value:
    if argument(node, 6, "divisor_override"):
        raise CannotWriteError(f"the built-in synthesiser knows the operator {node.op} with its usual divisor only.")
    total = _pooled(lowering, node, "sum", argument(node, 4, "ceil_mode", False), 1, 0.0)
    pad = _sizes(argument(node, 3, "padding", 0), _rank(node))
    if any(pad) and not argument(node, 5, "count_include_pad", True):
        return of("div", total, _inside(lowering, node, total.shape, pad))
    return of("div", total, constant(math.prod(_sizes(node.args[1], _rank(node))), total))


def _inside(lowering: Lowering, node: Node, shape: Shape, pad: Shape) -> Expression:
    """How many elements of each window are no padding."""
    size = _sizes(node.args[1], len(pad))
    step = _sizes(argument(node, 2, "stride"), len(pad)) or size
    lengths = lowering.operand(node.args[0]).shape[-len(pad) :]
    count: Expression = Number(1, "int", shape)
    for axis, (length, wide, by, before) in enumerate(zip(lengths, size, step, pad, strict=True)):
        strides = tuple(by if place == len(shape) - len(pad) + axis else 0 for place in range(len(shape)))
        start, end = Place(Layout(shape, -before, strides)), Place(Layout(shape, wide - before, strides))
        low = Apply("max", (start, Number(0, "int", shape)), "int")
        high = Apply("min", (end, Number(length, "int", shape)), "int")
        count = Apply("mul", (count, Apply("sub", (high, low), "int")), "int")
    return lowering.cast(count, "float")


@operator("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default")
def _adaptive_avg_pool(lowering: Lowering, node: Node) -> Value:
    value, places = lowering.operand(node.args[0]), tuple(node.args[1])
    lengths = value.shape[-len(places) :]
    if any(length % count for length, count in zip(lengths, places, strict=True)):
        raise CannotWriteError(f"the built-in synthesiser knows the operator {node.op} for windows of one size only.")
    size = tuple(length // count for length, count in zip(lengths, places, strict=True))
    none, one = (0,) * len(size), (1,) * len(size)
    seen = windows(lowering, value, size, step=size, pad=none, gap=one, fill=0.0)
    return mean(lowering, seen, list(range(len(value.shape), len(seen.shape))), keep=False)


@operator("constant_pad_nd.default")
def _constant_pad(lowering: Lowering, node: Node) -> Value:
    value, pairs = lowering.operand(node.args[0]), node.args[1]
    if any(size < 0 for size in pairs):
        raise CannotWriteError(
            "the built-in synthesiser does not know the operator aten.constant_pad_nd of less than 0."
        )
    ends = [(pairs[at], pairs[at + 1]) for at in range(0, len(pairs), 2)][::-1]
    fill = plain(argument(node, 2, "value", 0.0))
    return lowering.pad(value, tuple(before for before, _ in ends), fill, tuple(after for _, after in ends))


# *** convolution ***


@operator("convolution.default")
def _convolution(lowering: Lowering, node: Node) -> Value:
    given, kernel, bias, step, pad, gap, transposed, _, groups = node.args
    weight, value = lowering.operand(kernel), lowering.operand(given)
    size = weight.shape[2:]
    how = {name: _sizes(value, len(size)) for name, value in (("step", step), ("pad", pad), ("gap", gap))}
    assert node.shape is not None
    if transposed:
        found = _spread(lowering, value, weight, int(groups), node.shape, **how)
    else:
        seen = windows(lowering, value, size, **how, fill=0.0)
        total = _correlated(lowering, seen, viewed(weight, split(0, int(groups))))
        found = lowering.view(total, reshape(node.shape))
    if bias is None:
        return found
    beside = viewed(lowering.operand(bias), reshape((node.shape[1], *(1 for _ in size))))
    return of("add", found, viewed(beside, broadcast(node.shape)))


def _spread(
    lowering: Lowering,
    value: Expression,
    weight: Expression,
    groups: int,
    shape: Shape,
    *,
    step: Shape,
    pad: Shape,
    gap: Shape,
) -> Expression:
    """A transposed convolution: results that are `step` apart see the same taps of the window, so each such set is a
    plain convolution, and there are as many sets as steps."""
    size, lengths = weight.shape[2:], value.shape[2:]
    taps = [_taps(*axis) for axis in zip(size, step, pad, gap, strict=True)]
    before = tuple(max(0, *(-first for one in along for _, first in one)) for along in taps)
    wanted = [
        max((first + -(-(total - phase) // by) for phase, one in enumerate(along) for _, first in one), default=0)
        for total, by, along in zip(shape[2:], step, taps, strict=True)
    ]
    after = tuple(max(0, need - length) for need, length in zip(wanted, lengths, strict=True))
    padded = lowering.pad(value, before, 0.0, after) if any((*before, *after)) else lowering.written(value)
    grouped = viewed(viewed(weight, split(0, groups)), permute((0, 2, 1, *range(3, 3 + len(size)))))
    parts = []
    for phases in product(*(range(by) for by in step)):
        chosen = [along[phase] for along, phase in zip(taps, phases, strict=True)]
        counts = tuple(-(-(total - phase) // by) for total, by, phase in zip(shape[2:], step, phases, strict=True))
        seen = _through(padded, chosen, before, counts)
        some = _only_taps(grouped, chosen)
        sums = _correlated(lowering, seen, some) if all(chosen) else Number(0.0, "float", (1,))
        whole = (*shape[:2], *counts)
        parts += [(phases, lowering.view(sums, reshape(whole)) if all(chosen) else viewed(sums, broadcast(whole)))]
    return parts[0][1] if len(parts) == 1 else lowering.interleave(parts, shape, step)


def _taps(size: int, step: int, pad: int, gap: int) -> list[list[tuple[int, int]]]:
    """For each phase of the result along an axis: taps of the window that reach it, and which element the first of its
    results sees through each."""
    return [
        [(tap, (phase + pad - tap * gap) // step) for tap in range(size) if (phase + pad - tap * gap) % step == 0]
        for phase in range(step)
    ]


def _through(padded: Expression, chosen: list[list[tuple[int, int]]], before: Shape, counts: Shape) -> Expression:
    """A value as the results of one phase see it, with the taps as last axes."""

    def view(layout: Layout) -> Layout:
        offset, inside = layout.offset, []
        for axis, taps in enumerate(chosen):
            stride = layout.strides[2 + axis]
            first = taps[0][1] if taps else 0
            offset += (first + before[axis]) * stride
            inside += [(taps[1][1] - first) * stride if len(taps) > 1 else 0]
        shape = (*layout.shape[:2], *counts, *(len(taps) for taps in chosen))
        return Layout(shape, offset, (*layout.strides, *inside))

    return viewed(padded, view)


def _only_taps(grouped: Expression, chosen: list[list[tuple[int, int]]]) -> Expression:
    for axis, taps in enumerate(chosen):
        by = taps[1][0] - taps[0][0] if len(taps) > 1 else 1
        grouped = viewed(grouped, narrow(3 + axis, taps[0][0] if taps else 0, len(taps), by))
    return grouped


def _correlated(lowering: Lowering, seen: Expression, weight: Expression) -> Expression:
    """Sums over channels and window, for each group, channel of it, and place. Weights: group, out, in, window."""
    rank = len(weight.shape) - 3
    groups, outer, inner = weight.shape[:3]
    shape = (seen.shape[0], groups, outer, *seen.shape[2 : 2 + rank], inner, *weight.shape[3:])
    split_up = viewed(seen, split(1, groups))
    if outer >= FEWEST_ROWS and isinstance(split_up, Access):
        return lowering.view(_multiplied(lowering, split_up, weight), reshape(shape[: 3 + rank]))
    axes = range(3, 3 + rank)
    turned = viewed(split_up, permute((0, 1, *axes, 2, *(axis + rank for axis in axes))))
    left = viewed(viewed(turned, unsqueeze(2)), broadcast(shape))
    right = weight
    for _ in range(rank):
        right = viewed(right, unsqueeze(2))
    return lowering.reduce("sum", of("mul", left, viewed(right, broadcast(shape))), list(range(3 + rank, len(shape))))


def _multiplied(lowering: Lowering, seen: Access, weight: Expression) -> Expression:
    """The same sums as products of matrices: rows are channels that come out, columns are places."""
    rank = len(weight.shape) - 3
    groups, outer = weight.shape[:2]
    flat = lowering.view(weight, reshape((groups, outer, math.prod(weight.shape[2:]))))
    left = viewed(flat, broadcast((seen.shape[0], *flat.shape)))
    places, inside = range(3, 3 + rank), range(3 + rank, 3 + 2 * rank)
    right = viewed(seen, permute((0, 1, 2, *inside, *places)))
    assert isinstance(right, Access)
    return lowering.multiply_windows(left, right, 1 + rank, rank)
