"""Products of matrices: programs take a tile of the result each, and what is made of its elements is done before it is
stored.

Programs that start one after the other go down a band of rows before they take the next columns: what they share of
both matrices is in the cache then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelwright.propose.builtin._frame import Frame, identifier, pointer
from kernelwright.propose.builtin._kernels import Part, ProductKernel
from kernelwright.propose.builtin._loops import Access, Buffer, Expression, Product, Shape, reads
from kernelwright.propose.builtin._scope import indented
from kernelwright.propose.builtin.triton._emission import Text
from kernelwright.propose.builtin.triton._genome import TritonGenome
from kernelwright.propose.builtin.triton._places import Chunk, Places, all_of, along, moved, power_above
from kernelwright.propose.builtin.triton._sheet import Sheet

# Tiles of a band, one above the other.
BAND = 8
# A side of what Triton multiplies, at least.
SHORTEST = 16
# Bytes for what is under way to a program.
ROOM = 160 << 10


class Board(Places):
    """Tiles of the result.

    Attributes:
        tall, wide: Rows and columns of a tile.
        deep: Places along what is summed that are multiplied at a time.
    """

    def __init__(self, frame: Frame, genome: TritonGenome, inner: int) -> None:
        super().__init__(frame)
        self._genome = genome
        self._rows, self._columns = self.kernel.outer[-2:]
        self.tall, self.wide = _side(genome.tile_rows, self._rows), _side(genome.tile_columns, self._columns)
        self.deep = _side(genome.depth, inner)

    @property
    def row(self) -> str:
        return f"i{len(self.kernel.outer) - 2}"

    @property
    def column(self) -> str:
        return f"i{len(self.kernel.outer) - 1}"

    @property
    def _blocks(self) -> int:
        return -(-self._rows // self.tall)

    @property
    def _tiles(self) -> int:
        return self._blocks * -(-self._columns // self.wide)

    @property
    def _batch(self) -> int:
        return self.kernel.outer[0] if len(self.kernel.outer) > 2 else 1

    @property
    def programs(self) -> int:
        return self._batch * self._tiles

    @property
    def warps(self) -> int:
        return min(self._genome.product_warps, max(1, self.tall * self.wide // (SHORTEST * SHORTEST)))

    @property
    def ahead(self) -> int:
        """Steps under way at a time."""
        return max(1, min(self._genome.ahead, ROOM // (4 * self.deep * (self.tall + self.wide))))

    def head(self) -> list[tuple[str, str]]:
        band = BAND * -(-self._columns // self.wide)
        several = [("i0", f"task // {self._tiles}")] if len(self.kernel.outer) > 2 else []
        return [
            ("task", "tl.program_id(0)"),
            *several,
            ("tile", f"task % {self._tiles}"),
            ("first", f"tile // {band} * {BAND}"),
            ("high", f"tl.minimum({self._blocks} - first, {BAND})"),
            (self.row, f"(first + tile % {band} % high) * {self.tall} + tl.arange(0, {self.tall})[:, None]"),
            (self.column, f"tile % {band} // high * {self.wide} + tl.arange(0, {self.wide})[None, :]"),
        ]

    def masks(self, moving: Expression, chunk: Chunk | None) -> list[str]:
        axis = len(self.kernel.outer) - 2
        sides = ((axis, self.rows_there), (axis + 1, self.columns_there))
        return [there for place, there in sides if there and self.frame.moves(moving, [place])]

    @property
    def rows_there(self) -> str:
        """Which rows there are, if not all of them."""
        return f"{self.row} < {self._rows}" if self._rows % self.tall else ""

    @property
    def columns_there(self) -> str:
        return f"{self.column} < {self._columns}" if self._columns % self.wide else ""


def _side(wanted: int, size: int) -> int:
    return min(wanted, max(SHORTEST, power_above(size)))


class Products(Text):
    """A product, or several of the same size; which of them it is, `i0` says."""

    def __init__(self, frame: Frame, genome: TritonGenome, in_memory: set[Buffer], name: str) -> None:
        assert isinstance(frame.kernel, ProductKernel)
        assert frame.kernel.product is not None
        self._product: Product = frame.kernel.product
        self._inner = self._product.left.shape[-1]
        self._board = Board(frame, genome, self._inner)
        super().__init__(self._board, genome, in_memory, name)

    def _read(self) -> list[Buffer]:
        return list(dict.fromkeys([*sorted(reads(self._product), key=lambda one: one.name), *super()._read()]))

    def body(self) -> list[str]:
        sheet = Sheet(self._board)
        sheet.lines = self._sums()
        for part in self.kernel.parts:
            if part.into in self.in_memory:
                value = self._name if part.how else sheet.value(part.expression)
                sheet.lines += [sheet.store(_spread_out(part), value)]
        return sheet.lines

    @property
    def _name(self) -> str:
        return identifier(self._product.into)

    def _sums(self) -> list[str]:
        board, steps = self._board, -(-self._inner // self._board.deep)
        ahead = f", num_stages={board.ahead}" if board.ahead > 1 else ""
        inside = [
            f"k = step * {board.deep} + tl.arange(0, {board.deep})",
            f"left = {self._left()}",
            f"right = {self._right()}",
            f'{self._name} = tl.dot(left, right, {self._name}, input_precision="{self.genome.products}")',
        ]
        return [
            f"{self._name} = tl.zeros([{board.tall}, {board.wide}], tl.float32)",
            f"for step in tl.range(0, {steps}{ahead}):",
            *indented(inside),
        ]

    def _left(self) -> str:
        matrix, layout = len(self._product.left.shape) - 2, self._product.left.layout
        names = [*_along("i0", layout.shape[:matrix]), self._board.row, "k[None, :]"]
        return self._load(self._product.left, names, self._board.rows_there, "k[None, :]")

    def _right(self) -> str:
        """Rows and columns of the right matrix may be several axes in memory, as those of a window are."""
        layout, across = self._product.right.layout, self._product.across
        first, columns = len(layout.shape) - self._product.inner - across, len(layout.shape) - across
        names = [
            *_along("i0", layout.shape[:first]),
            *_along("k[:, None]", layout.shape[first:columns]),
            *_along(self._board.column, layout.shape[columns:]),
        ]
        return self._load(self._product.right, names, self._board.columns_there, "k[:, None]")

    def _load(self, access: Access, names: Sequence[str], there: str, place: str) -> str:
        masks = [there] * bool(there) + [f"{place} < {self._inner}"] * (self._inner % self._board.deep > 0)
        for bound in access.bounds:
            masks += [f"{moved(names, bound.layout)} {test}" for test in bound.tests]
        masked = f", mask={all_of(masks)}, other=0.0" if masks else ""
        return f"tl.load({pointer(access.buffer)} + {moved(names, access.layout)}{masked})"


def _along(number: str, shape: Shape) -> list[str]:
    return [f"({text})" if " " in text else text for text in along(number, shape)]


def _spread_out(part: Part) -> Part:
    """Addresses that go along both sides of a tile, also where a side is one element."""
    strides = [stride or int(size == 1) for size, stride in zip(part.layout.shape, part.layout.strides, strict=True)]
    return replace(part, layout=replace(part.layout, strides=tuple(strides)))
