"""What a program works on at once: some rows side by side, and along each a block of places.

A kernel without rows has blocks alone. Rows are counted all together (`flat`) where that leaves fewer lanes empty, and
else along the last of their axes, so that addresses need no division.
"""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._loops import Expression
from kernelwright.propose.builtin.triton._genome import TritonGenome
from kernelwright.propose.builtin.triton._places import WIDE, Chunk, Places, counted, number, power_above, power_below
from kernelwright.propose.builtin.triton._windows import has_windows

# Programs that keep a GPU busy, at least.
BUSY = 512
# Of the lanes of a block, so many in the hundred may be empty before rows are counted all together.
EMPTY = 10
# Elements of a tile that a thread holds at most, and should hold at least.
MOST, LEAST = 64, 4
FEWEST_COLUMNS = 16
# Elements that caches do not keep while others stream by.
LARGE = 1 << 20
# Places of a row that each lane goes over by itself, as those of a window are.
WINDOW = 32
LANES = 32
MOST_WARPS = 32


class Tile(Places):
    """Rows side by side, and places along them.

    Attributes:
        rows: How many, side by side.
        kept: Places of a row that are read once and stay on the chip, from its start on.
        block: Places of a row that are read at a time, behind those that are kept.
    """

    def __init__(self, frame: Frame, genome: TritonGenome, passes: int) -> None:
        super().__init__(frame)
        self._genome = genome
        self.has_rows = bool(self.kernel.inner)
        self.across = self.has_rows and not frame.rows
        self.rows, self.block, self.kept = self._sizes(passes)
        self.flat = self._is_flat()
        self.apart = "" if genome.vectors or self.has_rows or not has_windows(self.kernel) else "nothing"
        self.spread = self.rows > 1 and self.has_rows

    # Sizes

    def _sizes(self, passes: int) -> tuple[int, int, int]:
        if not self.has_rows:
            return min(self._genome.block, power_above(prod(self.kernel.outer))), 1, 0
        whole = power_above(prod(self.kernel.inner))
        limit = self._genome.tile if passes == 1 else self._genome.chip
        if self.across and passes == 1 and whole <= WINDOW:
            return min(self._genome.block, power_above(self._lanes())), 1, 0
        if self.across:
            return self._across(whole, limit)
        if whole <= limit:
            return self._side_by_side(whole), whole, whole
        held = self._genome.hold if passes > 1 and self._genome.hold <= whole // 2 else 0
        return 1, min(self._genome.tile, whole), held

    def _side_by_side(self, whole: int) -> int:
        """Short rows are taken several at a time, as long as there are enough for all."""
        count = prod(self.kernel.outer)
        return max(1, min(self._genome.tile // whole, power_below(count // BUSY or 1)))

    def _across(self, whole: int, limit: int) -> tuple[int, int, int]:
        rows = min(self._genome.columns, power_above(self._lanes()))
        if whole * min(FEWEST_COLUMNS, rows) <= limit:
            return min(rows, limit // whole), whole, whole
        return rows, min(whole, max(1, self._genome.tile // rows)), 0

    def _lanes(self) -> int:
        """Rows that lie side by side."""
        last = self.kernel.outer[-1]
        return last if last >= FEWEST_COLUMNS else prod(self.kernel.outer)

    def _is_flat(self) -> bool:
        last = self.kernel.outer[-1]
        if self.rows == 1 or not (self.across or not self.has_rows):
            return True
        return len(self.kernel.outer) > 1 and 100 * (-(-last // self.rows) * self.rows - last) > EMPTY * last

    @property
    def elements(self) -> int:
        return self.rows * max(self.block if self.steps else 1, self.kept)

    @property
    def warps(self) -> int:
        wanted = self._genome.tile_warps if self.has_rows and self.block > 1 else self._genome.warps
        least = -(-self.elements // (LANES * MOST))
        most = power_above(max(1, self.elements // (LANES * LEAST)))
        return min(MOST_WARPS, max(least, min(wanted, most)))

    @property
    def programs(self) -> int:
        if self.flat:
            return -(-prod(self.kernel.outer) // self.rows)
        return prod(self.kernel.outer[:-1]) * self._blocks

    @property
    def _blocks(self) -> int:
        return -(-self.kernel.outer[-1] // self.rows)

    # Steps along a row

    @property
    def _in_line(self) -> bool:
        """Whether places of a row are counted all together, and not along the last of several axes."""
        inner = self.kernel.inner
        return len(inner) == 1 or self.kept > 0 or inner[-1] < self.block

    @property
    def length(self) -> int:
        """Places that the loop over a row counts: all behind those that are kept, or those of the last axis."""
        return prod(self.kernel.inner) - self.kept if self._in_line else self.kernel.inner[-1]

    @property
    def steps(self) -> int:
        if not self.has_rows or self.length <= 0:
            return 0
        repeated = 1 if self._in_line else prod(self.kernel.inner[:-1])
        return repeated * -(-self.length // self.block)

    @property
    def uneven(self) -> bool:
        """Whether the last step along a row has fewer places."""
        return self.length % self.block > 0

    # Names of coordinates

    @property
    def _many_rows(self) -> bool:
        """Whether 32 bits do not suffice to count rows."""
        return prod(self.kernel.outer) + self.rows >= WIDE

    @property
    def shape(self) -> str:
        return f"[{self.rows}, {self.block}]" if self.spread else f"[{self.block}]"

    @property
    def axis(self) -> str:
        """The arguments of a reduction along the row."""
        return "1, True" if self.spread else "0, False"

    def head(self) -> list[tuple[str, str]]:
        """Where a program is among the rows."""
        program = "tl.program_id(0).to(tl.int64)" if self._many_rows else "tl.program_id(0)"
        outer = self.kernel.outer
        if self.flat:
            at = program if self.rows == 1 else f"{program} * {self.rows} + {self._lane_numbers()}"
            return [("row", at), *counted("i", "row", outer)]
        last = f"i{len(outer) - 1}"
        if len(outer) == 1:
            return [(last, f"{program} * {self.rows} + {self._lane_numbers()}")]
        rest, block = f"task // {self._blocks}", f"task % {self._blocks}"
        if self._shares_much:
            rest, block = f"task % {prod(outer[:-1])}", f"task // {prod(outer[:-1])}"
        return [
            ("task", program),
            *counted("i", rest, outer[:-1]),
            (last, f"{block} * {self.rows} + {self._lane_numbers()}"),
        ]

    @property
    def _shares_much(self) -> bool:
        """Whether something large is the same along all axes but the last: programs that read the same of it follow."""
        last = len(self.kernel.outer) - 1
        reads = [access.layout.strides for part in self.kernel.parts for access in self.frame.reads(part)]
        shared = any(one[last] and not any(one[:last]) for one in reads)
        return not self.has_rows and shared and self.kernel.outer[last] >= LARGE

    def _lane_numbers(self) -> str:
        numbers = f"tl.arange(0, {self.rows}){'[:, None]' if self.spread else ''}"
        return f"{numbers} + {self.apart}" if self.apart else numbers

    @property
    def row_mask(self) -> str:
        """Which rows there are, if not all of them."""
        if self.flat:
            count = prod(self.kernel.outer)
            return f"row < {count}" if count % self.rows else ""
        size = self.kernel.outer[-1]
        return f"i{len(self.kernel.outer) - 1} < {size}" if size % self.rows else ""

    @property
    def row_axes(self) -> range:
        """Axes along which rows of a tile differ."""
        outer = len(self.kernel.outer)
        return range(0) if self.rows == 1 else range(outer) if self.flat else range(outer - 1, outer)

    def masks(self, moving: Expression, chunk: Chunk | None) -> list[str]:
        rows = self.row_mask if self.frame.moves(moving, self.row_axes) else ""
        along = chunk.mask if chunk and not self.frame.is_row_value(moving) else ""
        return [mask for mask in (rows, along) if mask]

    def kept_chunk(self) -> Chunk:
        numbers = f"tl.arange(0, {self.kept}){'[None, :]' if self.spread else ''}"
        size = prod(self.kernel.inner)
        definitions = [("k", numbers), *counted("k", "k", self.kernel.inner)]
        return Chunk("k", self.kept, definitions, f"k < {size}" if self.kept > size else "")

    def looped_chunk(self, *, backward: bool) -> Chunk:
        step = f"({self.steps - 1} - step)" if backward else "step"
        numbers = f"tl.arange(0, {self.block}){'[None, :]' if self.spread else ''}"
        inner, end = self.kernel.inner, self.kept + self.length
        if self._in_line:
            at = f"{step} * {number(self.block, prod(inner) + self.block)} + {numbers}"
            definitions = [("j", f"{self.kept} + {at}" if self.kept else at), *counted("j", "j", inner)]
            return Chunk("j", self.block, definitions, f"j < {end}" if self.uneven else "")
        blocks, last = -(-inner[-1] // self.block), f"j{len(inner) - 1}"
        definitions = [
            *counted("j", f"{step} // {blocks}", inner[:-1]),
            (last, f"{step} % {blocks} * {self.block} + {numbers}"),
        ]
        return Chunk("j", self.block, definitions, f"{last} < {end}" if self.uneven else "")
