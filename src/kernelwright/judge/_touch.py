"""Inputs a little changed: a few elements, or one operand of several. The new values come from another draw."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from kernelwright.judge._memory import FLOATS, NUMPY, Leaf, Packed, is_dense

# One at a time, so often: a key made of sampled elements must have sampled every one of them.
ELEMENTS = 3
MOST_OPERANDS = 2


def variants(inputs: Packed, other: Packed) -> Iterator[tuple[str, Packed]]:
    """Changed inputs by name. Draws of different shapes have no common places, and give none."""
    if [leaf["nbytes"] for leaf in inputs.leaves] != [leaf["nbytes"] for leaf in other.leaves]:
        return
    floats = [index for index, leaf in enumerate(inputs.leaves) if leaf["dtype"] in FLOATS and leaf["nbytes"]]
    if floats:
        for number in range(ELEMENTS):
            yield f"one element changed ({number + 1})", _with_element(inputs, other, floats)
    if len(inputs.leaves) > 1:
        for index in floats[:MOST_OPERANDS]:
            yield f"only input {index} changed", _with_operand(inputs, other, index)


def _with_element(inputs: Packed, other: Packed, floats: list[int]) -> Packed:
    """One element of every operand from the other draw."""
    data = inputs.data.copy()
    for index in floats:
        mine, theirs = inputs.leaves[index], other.leaves[index]
        size = NUMPY[mine["dtype"]].itemsize
        place = _place(mine)
        start, source = mine["offset"] + place * size, theirs["offset"] + place * size
        data[start : start + size] = other.data[source : source + size]
    return replace(inputs, data=data)


def _place(leaf: Leaf) -> int:
    """Where to change: anywhere, but on the diagonal of square matrices, so that symmetric ones stay symmetric."""
    number = int(leaf["nbytes"]) // NUMPY[leaf["dtype"]].itemsize
    shape = leaf["shape"]
    if len(shape) >= 2 and shape[-1] == shape[-2] and is_dense(leaf):
        side = int(shape[-1])
        matrices = number // (side * side)
        return random.randrange(matrices) * side * side + random.randrange(side) * (side + 1)
    return random.randrange(number)


def _with_operand(inputs: Packed, other: Packed, index: int) -> Packed:
    data = inputs.data.copy()
    mine, theirs = inputs.leaves[index], other.leaves[index]
    data[mine["offset"] : mine["offset"] + mine["nbytes"]] = other.data[
        theirs["offset"] : theirs["offset"] + theirs["nbytes"]
    ]
    return replace(inputs, data=data)
