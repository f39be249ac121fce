"""Attention as C++: scores of a few rows at a time, which never leave the nearest cache, what is made of them, and
their product with the values. Keys are packed once for all rows that meet them."""

from __future__ import annotations

from kernelwright.propose.builtin._attended import AttentionKernel
from kernelwright.propose.builtin._crew import Crew
from kernelwright.propose.builtin._frame import Frame, identifier, pointer
from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._loops import Buffer, Product
from kernelwright.propose.builtin._products import Products
from kernelwright.propose.builtin._rows import LONG, Rows
from kernelwright.propose.builtin._scope import indented


class _Line(Rows):
    """One row of scores; `skips`: no more of it is looked at than the row sees."""

    skips = False

    @property
    def end(self) -> str:
        return "end" if self.skips else super().end


class Attention(Products):
    """Threads share blocks of rows; the last tile of a block reaches back to where it is whole."""

    def __init__(self, frame: Frame, genome: Genome, crew: Crew, in_memory: set[Buffer], name: str) -> None:
        super().__init__(frame, genome, crew, in_memory, name)
        assert isinstance(frame.kernel, AttentionKernel)
        self._attention = frame.kernel
        assert self._attention.rows is not None
        self._line = _Line(Frame(self._attention.rows), genome, crew, set(), name)
        self._line.skips = genome.skip and self._attention.slack is not None and self._keys <= LONG

    @property
    def _scores(self) -> Product:
        assert self._attention.scores is not None
        return self._attention.scores

    @property
    def _keys(self) -> int:
        return self._scores.into.shape[-1]

    @property
    def _depth(self) -> int:
        return self._scores.left.shape[-1]

    def _read(self) -> list[Buffer]:
        products = [self._scores.left.buffer, self._scores.right.buffer, self.product.right.buffer]
        line = [buffer for buffer in self._line._read() if buffer != self._attention.line]
        others = [one for one in super()._read() if one != self.product.left.buffer]
        return list(dict.fromkeys([*products, *line, *others]))

    def body(self) -> list[str]:
        rows, columns = self.kernel.outer[-2:]
        tall = min(self.genome.tile_rows, rows)
        blocks = min(rows // tall, -(-rows // self._block(tall, 1)))
        wide, panels = self._across(columns)
        high, packs = self._across(self._keys)
        head = [
            f"constexpr int R = {tall}, C = {wide}, S = {high};",
            f"constexpr int64_t rows = {rows}, columns = {columns}, panels = {panels}, wide = C * W;",
            f"constexpr int64_t keys = {self._keys}, depth = {self._depth}, packs = {packs}, high = S * W;",
            "(void)columns, (void)panels;",
        ]
        return [*head, *self._shared(self.batch * blocks, self._task(blocks))]

    def _across(self, columns: int) -> tuple[int, int]:
        """Vectors of a tile and tiles beside each other: as many as divide the columns evenly, where any do."""
        vectors = -(-columns // self.genome.width)
        most = min(self.genome.tile_columns, vectors)
        wide = max((size for size in range(2, most + 1) if vectors % size == 0), default=most)
        return wide, -(-vectors // wide)

    def _shared(self, tasks: int, inside: list[str]) -> list[str]:
        rooms = {"packed_keys": "packs * depth * high", "scores": "R * packs * high"}
        rooms |= {"packed_values": "panels * keys * wide"} if self._packs_values() else {}
        rooms |= dict.fromkeys(self._line.kept, "packs * high")
        made = [f"float* {name} = (float*)std::calloc({size} + 16, sizeof(float));" for name, size in rooms.items()]
        loop = [f"for (int64_t t = 0; t < {tasks}; t++) {{", *indented(inside), "}"]
        share = f"#pragma omp for schedule({self.genome.schedule}) nowait"
        threads = f" num_threads({self.genome.threads})" if self.genome.threads else ""
        body = [*made, "int64_t packed = -1;", share, *loop, *(f"std::free({name});" for name in rooms)]
        return [f"#pragma omp parallel{threads}", "{", *indented(body), "}"]

    def _packs_values(self) -> bool:
        """Tiles are read whole, so values whose rows end within one are copied first."""
        return not self._ends_evenly() or self.product.right.layout.strides[-1] != 1

    def _ends_evenly(self) -> bool:
        columns = self.kernel.outer[-1]
        wide, panels = self._across(columns)
        return columns == panels * wide * self.genome.width

    # A block of rows

    def _task(self, blocks: int) -> list[str]:
        return [
            f"const int64_t i0 = t / {blocks}, b = t % {blocks};",
            f"const int64_t first = b * rows / {blocks}, last = (b + 1) * rows / {blocks};",
            "if (packed != i0) {",
            *indented([*self._packed_keys(), *self._packed_values(), "packed = i0;"]),
            "}",
            "float divisor[R];",
            "(void)divisor;",
            "for (int64_t start = first; start < last; start += R) {",
            *indented(["const int64_t m = start + R <= last ? start : last - R;", *self._tile()]),
            "}",
        ]

    def _packed_keys(self) -> list[str]:
        right = self._scores.right
        step, across = right.layout.strides[-2:]
        return [
            f"const float* right = {self.base(right, len(right.shape) - 2)};",
            "for (int64_t p = 0; p < packs; p++) {",
            "    const int64_t left = keys - p * high < high ? keys - p * high : high;",
            "    float* there = packed_keys + p * depth * high;",
            f"    pack_panel<S>(there, right + p * high * {across}, {step}, {across}, depth, left);",
            "}",
        ]

    def _packed_values(self) -> list[str]:
        if not self._packs_values():
            return []
        step, across = self.product.right.layout.strides[-2:]
        return [
            f"const float* below = {self.right_base()};",
            "for (int64_t p = 0; p < panels; p++) {",
            "    const int64_t left = columns - p * wide < wide ? columns - p * wide : wide;",
            "    float* there = packed_values + p * keys * wide;",
            f"    pack_panel<C>(there, below + p * wide * {across}, {step}, {across}, keys, left);",
            "}",
        ]

    # A few rows

    def _tile(self) -> list[str]:
        return [*self._seen(), *self._scored(), *self._weighed(), *self._summed()]

    def _seen(self) -> list[str]:
        """How many keys any of these rows sees, in whole vectors."""
        if not self._line.skips:
            return ["constexpr int64_t end = keys;"]
        return [
            f"const int64_t seen = (m + R - 1 + {self._attention.slack} + W - 1) / W * W;",
            "const int64_t end = seen < keys ? seen : keys;",
        ]

    def _scored(self) -> list[str]:
        left = self._scores.left
        row, step = left.layout.strides[-2:]
        return [
            f"const float* queries = {self.base(left, len(left.shape) - 2)} + m * {row};",
            "for (int64_t p = 0; p * high < end; p++) {",
            "    V tile[R][S];",
            f"    product_tile<R, S>(queries, {row}, {step}, packed_keys + p * depth * high, high, depth, tile);",
            "    for (int r = 0; r < R; r++) std::memcpy(scores + (r * packs + p) * high, tile[r], sizeof tile[r]);",
            "}",
        ]

    def _weighed(self) -> list[str]:
        divisor = self._attention.divisor
        found = [f"divisor[r] = {identifier(divisor)}[0];"] if divisor else []
        assert self._attention.line is not None
        inside = [
            f"float* {pointer(self._attention.line)} = scores + r * packs * high;",
            "const int64_t row = i0 * rows + m + r;",
            *self._line.row("row"),
            *found,
        ]
        return ["for (int64_t r = 0; r < R; r++) {", *indented(inside), "}"]

    def _summed(self) -> list[str]:
        if self._packs_values():
            panel = "packed_values + p * keys * wide, wide"
        else:
            panel = f"{self.right_base()} + p * wide, {self.product.right.layout.strides[-2]}"
        divided = ["each<C>([&](auto c) STEP { tile[r][c] = tile[r][c] / divisor[r]; });"]
        inside = [
            "V tile[R][C];",
            *self._finish(),
            f"product_tile<R, C>(scores, packs * high, 1, {panel}, end, tile);",
            "for (int r = 0; r < R; r++) {",
            *indented([*(divided if self._attention.divisor else []), "finish(m + r, tile[r]);"]),
            "}",
        ]
        return ["for (int64_t p = 0; p < panels; p++) {", *indented(inside), "}"]
