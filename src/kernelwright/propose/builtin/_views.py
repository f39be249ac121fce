"""Views: the same values at other addresses. Each changes layouts; `viewed` changes all those of an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kernelwright.propose.builtin._loops import Access, Apply, Buffer, Expression, Layout, Number, Place, Shape, dense

View = Callable[[Layout], Layout]


class NoViewError(Exception):
    """These values cannot be had at the wanted addresses without being written down first."""


def viewed(expression: Expression, view: View) -> Expression:
    """The expression over another space."""
    made: dict[Expression, Expression] = {}

    def turn(part: Expression) -> Expression:
        if part not in made:
            made[part] = _turned(part, view, turn)
        return made[part]

    return turn(expression)


def _turned(part: Expression, view: View, turn: Callable[[Expression], Expression]) -> Expression:
    match part:
        case Access(layout=layout, picks=picks, bounds=bounds):
            turned = tuple((turn(pick), stride) for pick, stride in picks)
            seen = tuple(replace(bound, layout=view(bound.layout)) for bound in bounds)
            return replace(part, layout=view(layout), picks=turned, bounds=seen)
        case Place(layout=layout):
            return replace(part, layout=view(layout))
        case Number(shape=shape):
            return replace(part, shape=view(Layout(shape, 0, (0,) * len(shape))).shape)
        case Apply(function=function, parts=parts, kind=kind):
            return Apply(function, tuple(map(turn, parts)), kind)


def rebuffered(expression: Expression, renamed: Mapping[Buffer, Buffer]) -> Expression:
    """The expression read from other buffers."""
    return _reread(expression, lambda access: replace(access, buffer=renamed.get(access.buffer, access.buffer)))


def moved(expression: Expression, buffer: Buffer, there: Access) -> Expression:
    """The expression with one buffer read elsewhere, and at another address."""
    return _reread(expression, lambda access: there if access.buffer == buffer else access)


def _reread(expression: Expression, instead: Callable[[Access], Access]) -> Expression:
    made: dict[Expression, Expression] = {}

    def turn(part: Expression) -> Expression:
        if part not in made:
            match part:
                case Access(picks=picks):
                    made[part] = instead(replace(part, picks=tuple((turn(pick), stride) for pick, stride in picks)))
                case Apply(function=function, parts=parts, kind=kind):
                    made[part] = Apply(function, tuple(map(turn, parts)), kind)
                case _:
                    made[part] = part
        return made[part]

    return turn(expression)


def replaced(expression: Expression, swaps: Mapping[Expression, Expression]) -> Expression:
    """The expression with others, over the same space, in the place of these parts."""
    made = dict(swaps)

    def turn(part: Expression) -> Expression:
        if part not in made:
            match part:
                case Access(picks=picks):
                    made[part] = replace(part, picks=tuple((turn(pick), stride) for pick, stride in picks))
                case Apply(function=function, parts=parts, kind=kind):
                    made[part] = Apply(function, tuple(map(turn, parts)), kind)
                case _:
                    made[part] = part
        return made[part]

    return turn(expression)


def permute(order: tuple[int, ...]) -> View:
    def view(layout: Layout) -> Layout:
        return Layout(
            tuple(layout.shape[axis] for axis in order), layout.offset, tuple(layout.strides[axis] for axis in order)
        )

    return view


def broadcast(shape: Shape) -> View:
    """Axes are added in front, and those of size 1 stretched."""

    def view(layout: Layout) -> Layout:
        added = len(shape) - len(layout.shape)
        strides = [
            0 if old == 1 and new != 1 else stride
            for new, old, stride in zip(shape[added:], layout.shape, layout.strides, strict=True)
        ]
        return Layout(shape, layout.offset, (0,) * added + tuple(strides))

    return view


def unsqueeze(axis: int) -> View:
    def view(layout: Layout) -> Layout:
        shape, strides = layout.shape, layout.strides
        return Layout((*shape[:axis], 1, *shape[axis:]), layout.offset, (*strides[:axis], 0, *strides[axis:]))

    return view


def drop(axes: set[int]) -> View:
    """Axes of size 1 are left out."""

    def view(layout: Layout) -> Layout:
        kept = [axis for axis in range(len(layout.shape)) if axis not in axes]
        return permute(tuple(kept))(layout)

    return view


def narrow(axis: int, start: int, size: int, step: int = 1) -> View:
    def view(layout: Layout) -> Layout:
        shape, strides = list(layout.shape), list(layout.strides)
        offset = layout.offset + start * strides[axis]
        shape[axis], strides[axis] = size, strides[axis] * step
        return Layout(tuple(shape), offset, tuple(strides))

    return view


def narrow_to(shape: Shape) -> View:
    """The first elements along every axis."""

    def view(layout: Layout) -> Layout:
        return Layout(shape, layout.offset, layout.strides)

    return view


def diagonal(offset: int, one: int, other: int, size: int) -> View:
    """Two axes become one, the last, that goes along both."""

    def view(layout: Layout) -> Layout:
        strides = layout.strides
        kept = [axis for axis in range(len(strides)) if axis not in (one, other)]
        start = layout.offset + (offset * strides[other] if offset > 0 else -offset * strides[one])
        shape = (*(layout.shape[axis] for axis in kept), size)
        return Layout(shape, start, (*(strides[axis] for axis in kept), strides[one] + strides[other]))

    return view


def flip(axis: int) -> View:
    def view(layout: Layout) -> Layout:
        strides = list(layout.strides)
        offset = layout.offset + (layout.shape[axis] - 1) * strides[axis]
        strides[axis] = -strides[axis]
        return Layout(layout.shape, offset, tuple(strides))

    return view


def split(axis: int, parts: int) -> View:
    """One axis becomes two, of which the first counts so many parts."""

    def view(layout: Layout) -> Layout:
        shape, strides = layout.shape, layout.strides
        each = shape[axis] // parts
        return Layout(
            (*shape[:axis], parts, each, *shape[axis + 1 :]),
            layout.offset,
            (*strides[:axis], strides[axis] * each, strides[axis], *strides[axis + 1 :]),
        )

    return view


def reshape(shape: Shape) -> View:
    def view(layout: Layout) -> Layout:
        return Layout(shape, layout.offset, _reshaped(layout, shape))

    return view


def _reshaped(layout: Layout, shape: Shape) -> Shape:
    """Strides of the new shape: runs of axes that lie like one are cut anew; raises NoViewError if none fit."""
    if 0 in shape:
        return dense(shape)
    runs = _runs(layout)
    strides: list[int] = []
    for size in reversed(shape):
        if size == 1:
            strides.append(0)
            continue
        while runs and runs[-1][0] == 1:
            runs.pop()
        left, stride = runs[-1] if runs else (0, 0)
        if not left or left % size:
            raise NoViewError
        strides.append(stride)
        runs[-1] = (left // size, stride * size)
    return tuple(reversed(strides))


def _runs(layout: Layout) -> list[tuple[int, int]]:
    """Sizes and strides of neighbouring axes that can be counted as one."""
    runs: list[tuple[int, int]] = []
    for size, stride in zip(layout.shape, layout.strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs
