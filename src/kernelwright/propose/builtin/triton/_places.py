"""What the coordinates of a kernel are called, how addresses are made of them, and which of them there are."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._loops import Expression, Layout, Shape, dense

# Counters of 32 bits end here.
WIDE = 1 << 31


@dataclass
class Chunk:
    """Places along a row that are worked on at once: their counter, which of them there are, and values found there."""

    place: str
    block: int
    definitions: list[tuple[str, str]]
    mask: str
    policy: str = ""
    names: dict[Expression, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class Places(ABC):
    """Where the programs of a kernel are.

    Attributes:
        apart: Name of a number, always 0, that keeps the compiler from giving a lane neighbours; empty if it may.
    """

    apart: str = ""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.kernel = frame, frame.kernel

    @property
    @abstractmethod
    def programs(self) -> int: ...

    @property
    @abstractmethod
    def warps(self) -> int: ...

    @abstractmethod
    def head(self) -> list[tuple[str, str]]:
        """Names of coordinates and what they are, each after those that it is made of."""

    @abstractmethod
    def masks(self, moving: Expression, chunk: Chunk | None) -> list[str]:
        """Which elements of what moves along these axes there are."""

    def address(self, layout: Layout, chunk: Chunk | None) -> str:
        """Terms that are added to a pointer one by one, in 64 bits where 32 do not suffice; what is the same everywhere
        comes last, so that neighbours share the rest."""
        names = [f"i{axis}" for axis in range(len(self.kernel.outer))]
        names += [f"{chunk.place if chunk else 'j'}{axis}" for axis in range(len(self.kernel.inner))]
        return moved(names, layout)


def moved(names: Sequence[str], layout: Layout) -> str:
    """The address that a layout has at coordinates of these names."""
    axes = zip(names, layout.shape, layout.strides, strict=True)
    terms = [_term(name, size, stride) for name, size, stride in axes if stride]
    return " + ".join([*terms, number(layout.offset, layout.offset)] if layout.offset or not terms else terms)


def _term(name: str, size: int, stride: int) -> str:
    return name if stride == 1 else f"{name} * {number(stride, stride * (size - 1))}"


def number(value: int, reach: int) -> str:
    """A number that a counter is multiplied by, or moved: in 64 bits if that leads so far."""
    return f"tl.full([], {value}, tl.int64)" if abs(reach) >= WIDE else str(value)


def along(number: str, shape: Shape) -> list[str]:
    """A counter's coordinates along several axes."""
    found = []
    for place, (size, stride) in enumerate(zip(shape, dense(shape), strict=True)):
        divided = number if stride == 1 else f"{number} // {stride}"
        found += [f"{divided} % {size}" if place else divided]
    return found


def counted(name: str, number: str, shape: Shape) -> list[tuple[str, str]]:
    """Counters along axes, out of one."""
    return [(f"{name}{place}", text) for place, text in enumerate(along(number, shape))]


def needed(definitions: Sequence[tuple[str, str]], lines: Sequence[str]) -> list[str]:
    """Those definitions that what follows makes use of."""
    kept: list[str] = []
    for name, value in reversed(definitions):
        word = re.compile(rf"\b{name}\b")
        if any(word.search(line) for line in (*kept, *lines)):
            kept.insert(0, f"{name} = {value}")
    return kept


def all_of(masks: Sequence[str]) -> str:
    return masks[0] if len(masks) == 1 else " & ".join(f"({mask})" for mask in masks)


def power_above(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def power_below(number: int) -> int:
    return 1 << (number.bit_length() - 1)
