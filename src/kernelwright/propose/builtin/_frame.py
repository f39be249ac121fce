"""Where the lanes of a kernel run, and what that makes of its addresses.

Lanes run along the last inner loop where rows lie densely in memory (`rows`), and along the last outer loop otherwise:
then each lane is a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

from kernelwright.propose.builtin._kernels import Kernel, Part, with_one_row
from kernelwright.propose.builtin._loops import ELEMENTS, Access, Buffer, Expression, Layout, Place, accesses, walk

# Rows so short that most lanes would be empty, and so many that a vector can take one in each lane.
SHORT, MANY = 8, 64


class Frame:
    """A kernel's loops, seen from one of its points: `i0`, `i1` count rows, `j0`, `j1` places in one, `l` lanes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel if kernel.outer else with_one_row(kernel)

    @cached_property
    def rows(self) -> bool:
        """Whether lanes run along rows."""
        if not self.kernel.inner or (self.kernel.shape[-1] < SHORT and prod(self.kernel.outer) >= MANY):
            return False
        last_inner, last_outer = len(self.kernel.shape) - 1, len(self.kernel.outer) - 1
        return self._awkwardness(last_inner) <= self._awkwardness(last_outer)

    def _awkwardness(self, axis: int) -> tuple[int, int]:
        """How many addresses jump along an axis, and how many do not run along it."""
        strides = [access.layout.strides[axis] for part in self.kernel.parts for access in self.reads(part)]
        return sum(stride not in (0, 1) for stride in strides), sum(stride != 1 for stride in strides)

    @cached_property
    def lane_axis(self) -> int:
        return len(self.kernel.shape) - 1 if self.rows else len(self.kernel.outer) - 1

    def reads(self, part: Part) -> list[Access]:
        """What a part reads from memory; what the kernel itself found for its row is at hand."""
        return [access for access in accesses(part.expression) if access.buffer not in self.kernel.own]

    def moves(self, expression: Expression, axes: Sequence[int]) -> bool:
        """Whether a value differs along one of these axes."""
        parts = list(walk(expression))
        layouts = [part.layout for part in parts if isinstance(part, Access | Place)]
        layouts += [bound.layout for part in parts if isinstance(part, Access) for bound in part.bounds]
        return any(layout.strides[axis] for layout in layouts for axis in axes)

    def is_row_value(self, expression: Expression) -> bool:
        """Whether a value is the same all along a row."""
        return not self.moves(expression, range(len(self.kernel.outer), len(self.kernel.shape)))

    def is_row_result(self, part: Part) -> bool:
        """Whether a part gives one value a row."""
        return bool(self.kernel.inner) and (part.how is not None or self.is_row_value(Place(part.layout)))

    def address(self, layout: Layout, lane: str = "l") -> str:
        names = [f"i{axis}" for axis in range(len(self.kernel.outer))]
        names += [f"j{axis}" for axis in range(len(self.kernel.inner))]
        names[self.lane_axis] = lane
        moving = [(name, stride) for name, stride in zip(names, layout.strides, strict=True) if stride]
        terms = [name if stride == 1 else f"{name} * {stride}" for name, stride in moving]
        return " + ".join([str(layout.offset), *terms] if layout.offset or not terms else terms)


class Names:
    """Names for values, none twice in a kernel."""

    def __init__(self) -> None:
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"


def identifier(buffer: Buffer) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in f"{buffer.role}_{buffer.name}")


def pointer(buffer: Buffer) -> str:
    """The parameter that a buffer comes in by."""
    return f"{identifier(buffer)}_"


def parameter(buffer: Buffer, *, written: bool) -> str:
    return f"{'' if written else 'const '}{ELEMENTS[buffer.dtype]}* __restrict {pointer(buffer)}"
