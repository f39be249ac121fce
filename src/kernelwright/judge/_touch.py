"""Inputs a little changed: a few elements, or one operand of several. The new values come from another draw."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from kernelwright.judge._memory import FLOATS, NUMPY, Leaf, Packed, is_dense

ELEMENTS = 3
MOST_OPERANDS = 2


def variants(inputs: Packed, other: Packed) -> Iterator[tuple[str, Packed]]:
    """Changed inputs by name. Draws of different shapes have no common places, and give none."""
    if [leaf["nbytes"] for leaf in inputs.leaves] != [leaf["nbytes"] for leaf in other.leaves]:
        return
    floats = [index for index, leaf in enumerate(inputs.leaves) if leaf["dtype"] in FLOATS and leaf["nbytes"]]
    if floats:
        yield "a few elements changed", _with_elements(inputs, other, floats)
    if len(inputs.leaves) > 1:
        for index in floats[:MOST_OPERANDS]:
            yield f"only input {index} changed", _with_operand(inputs, other, index)


def _with_elements(inputs: Packed, other: Packed, floats: list[int]) -> Packed:
    data = inputs.data.copy()
    for index in floats:
        mine, theirs = inputs.leaves[index], other.leaves[index]
        size = NUMPY[mine["dtype"]].itemsize
        for place in _places(mine):
            start, source = mine["offset"] + place * size, theirs["offset"] + place * size
            data[start : start + size] = other.data[source : source + size]
    return replace(inputs, data=data)


def _places(leaf: Leaf) -> list[int]:
    """Where to change: anywhere, but on the diagonal of square matrices, so that symmetric ones stay symmetric."""
    number = leaf["nbytes"] // NUMPY[leaf["dtype"]].itemsize
    shape = leaf["shape"]
    if len(shape) >= 2 and shape[-1] == shape[-2] and is_dense(leaf):
        side = shape[-1]
        matrices = number // (side * side)
        return [random.randrange(matrices) * side * side + random.randrange(side) * (side + 1) for _ in range(ELEMENTS)]
    return [random.randrange(number) for _ in range(ELEMENTS)]


def _with_operand(inputs: Packed, other: Packed, index: int) -> Packed:
    data = inputs.data.copy()
    mine, theirs = inputs.leaves[index], other.leaves[index]
    data[mine["offset"] : mine["offset"] + mine["nbytes"]] = other.data[
        theirs["offset"] : theirs["offset"] + theirs["nbytes"]
    ]
    return replace(inputs, data=data)
