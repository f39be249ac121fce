"""What torch's operators mean: whatever slides a window over its input. A window is an address with more axes."""

from __future__ import annotations

import math
from typing import Any, Literal

from kernelwright.propose.builtin._capture import Node
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import Access, Expression, Layout, Shape
from kernelwright.propose.builtin._lower import Lowering, Value, argument, operator, plain
from kernelwright.propose.builtin._operators import constant, mean, of
from kernelwright.propose.builtin._views import View, broadcast, permute, reshape, split, unsqueeze, viewed


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
    rank = 3 if "3d" in node.op else 2 if "2d" in node.op else 1
    if ceil:
        raise CannotWriteError(f"the built-in synthesiser does not know the operator {node.op} with ceil_mode.")
    size = _sizes(node.args[1], rank)
    step = _sizes(argument(node, 2, "stride"), rank) or size
    pad = _sizes(argument(node, 3, "padding", 0), rank)
    value = lowering.operand(node.args[0])
    seen = windows(lowering, value, size, step=step, pad=pad, gap=_sizes(gap, rank), fill=fill)
    return lowering.reduce(how, seen, list(range(-rank, 0)))


@operator("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def _max_pool(lowering: Lowering, node: Node) -> Value:
    """Only the values: where they were found is not known."""
    gap, ceil = argument(node, 4, "dilation", 1), argument(node, 5, "ceil_mode", False)
    return (_pooled(lowering, node, "max", ceil, gap, -math.inf),)


@operator("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def _avg_pool(lowering: Lowering, node: Node) -> Value:
    padded = any(_sizes(argument(node, 3, "padding", 0), 1))
    if (padded and not argument(node, 5, "count_include_pad", True)) or argument(node, 6, "divisor_override"):
        raise CannotWriteError(f"the built-in synthesiser knows the operator {node.op} with its usual divisor only.")
    total = _pooled(lowering, node, "sum", argument(node, 4, "ceil_mode", False), 1, 0.0)
    return of("div", total, constant(math.prod(_sizes(node.args[1], len(total.shape) - 2)), total))


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
    if transposed:
        raise CannotWriteError("the built-in synthesiser does not know the operator aten.convolution transposed.")
    weight = lowering.operand(kernel)
    size = weight.shape[2:]
    how = {name: _sizes(value, len(size)) for name, value in (("step", step), ("pad", pad), ("gap", gap))}
    seen = windows(lowering, lowering.operand(given), size, **how, fill=0.0)
    total = _correlated(lowering, seen, weight, int(groups))
    assert node.shape is not None
    found = lowering.view(total, reshape(node.shape))
    if bias is None:
        return found
    beside = viewed(lowering.operand(bias), reshape((node.shape[1], *(1 for _ in size))))
    return of("add", found, viewed(beside, broadcast(node.shape)))


def _correlated(lowering: Lowering, seen: Expression, weight: Expression, groups: int) -> Expression:
    """Sums over channels and window, for each group, channel of it, and place."""
    rank = len(weight.shape) - 2
    places = seen.shape[2 : 2 + rank]
    shape = (seen.shape[0], groups, weight.shape[0] // groups, *places, weight.shape[1], *weight.shape[2:])
    split_up = viewed(seen, split(1, groups))
    axes = range(3, 3 + rank)
    turned = viewed(split_up, permute((0, 1, *axes, 2, *(axis + rank for axis in axes))))
    left = viewed(viewed(turned, unsqueeze(2)), broadcast(shape))
    right = viewed(weight, split(0, groups))
    for _ in range(rank):
        right = viewed(right, unsqueeze(2))
    return lowering.reduce("sum", of("mul", left, viewed(right, broadcast(shape))), list(range(3 + rank, len(shape))))
