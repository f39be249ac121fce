"""Products of matrices: tiles of sums in registers, the right matrix packed into panels of columns where that is worth
it, and what is made of a tile's elements done to it before it is stored."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._matrices import Matrices
from kernelwright.propose.builtin._scope import indented

FEWEST_TASKS = 8
# A product of so few rows reads its right matrix hardly more than once: packing it would double that.
FEW_ROWS = 8
# Bytes of a right matrix that stays in the nearest caches whatever its order.
SMALL = 1 << 17
# Elements of a row that are packed at a time where rows become columns.
BLOCK = 16


class Products(Matrices):
    """Threads share blocks of rows and of columns, and the products where there are several."""

    genome: Genome

    def body(self) -> list[str]:
        rows, columns = self.kernel.outer[-2:]
        if self._as_dots():
            return self._dots()
        tall, wide = min(self.genome.tile_rows, rows), self._vectors()
        panels = -(-columns // (wide * self.genome.width))
        block = self._block(tall, panels)
        blocks = -(-rows // block)
        head = [
            f"constexpr int R = {tall}, C = {wide};",
            f"constexpr int64_t rows = {rows}, columns = {columns}, inner = {self.inner};",
            f"constexpr int64_t panels = {panels}, wide = C * W, block = {block}, blocks = {blocks};",
            *self._tables(),
        ]
        at = [
            f"const int64_t i0 = t / (panels * blocks), p = t / blocks % panels, first = t % blocks * {block};",
            "(void)i0;",
            "const int64_t last = first + block < rows ? first + block : rows;",
        ]
        last = -(-columns // self.genome.width) - (panels - 1) * wide
        tiles = ["auto tiles = [&](auto C) STEP {", *indented(self._tiles(rows % tall)), "};"]
        chosen = "tiles(number<C>());"
        if last != wide:
            chosen = f"if (p + 1 < panels) {chosen} else tiles(number<{last}>());"
        inside = [*at, *self._packing(), *tiles, chosen]
        return [*head, *self._team(self.batch * panels * blocks, inside)]

    def _vectors(self) -> int:
        return min(self.genome.tile_columns, -(-self.kernel.outer[-1] // self.genome.width))

    def _block(self, tall: int, panels: int) -> int:
        """Rows of a task: all, unless there would be too few tasks; each packs the columns that it needs itself."""
        rows = self.kernel.outer[-2]
        wanted = -(-FEWEST_TASKS // (self.batch * panels))
        most = max(self.genome.rows_at_once, -(-rows // wanted))
        return -(-min(rows, most) // tall) * tall

    def _team(self, tasks: int, inside: list[str]) -> list[str]:
        share = f"#pragma omp for schedule({self.genome.schedule}) nowait"
        loop = [f"for (int64_t t = 0; t < {tasks}; t++) {{", *indented(inside), "}"]
        room = ["float* packed = (float*)std::aligned_alloc(64, (inner * wide * sizeof(float) + 63) / 64 * 64);"]
        made, freed = (room, ["std::free(packed);"]) if self._packed() else ([], [])
        if tasks == 1:
            return [*made, *loop, *freed]
        threads = f" num_threads({self.genome.threads})" if self.genome.threads else ""
        return [f"#pragma omp parallel{threads}", "{", *indented([*made, share, *loop, *freed]), "}"]

    # Where elements are

    def _packed(self) -> bool:
        """Whether the right matrix is put into the order in which tiles read it."""
        columns = self.kernel.outer[-1]
        possible = not self.is_spread() and self.product.right.layout.strides[-1] == 1
        if not possible or columns % self.genome.width or self.genome.packing == "always":
            return True
        few = self.kernel.outer[-2] <= FEW_ROWS or self.inner * columns * 4 <= SMALL
        return not (few or self.genome.packing == "never")

    def _tables(self) -> list[str]:
        """Where rows and columns of the right matrix are, if they are several axes."""
        if not self.is_spread():
            return []
        return [
            "static int64_t row_at[inner], column_at[panels * wide];",
            "static bool dense_at[panels * C];",
            f"for (int64_t k = 0; k < inner; k++) row_at[k] = {self.row_at('k')};",
            "for (int64_t j = 0; j < panels * wide; j++) {",
            "    const int64_t n = j < columns ? j : columns - 1;",
            f"    column_at[j] = {self.column_at('n')};",
            "}",
            "for (int64_t v = 0; v < panels * C; v++) {",
            "    dense_at[v] = true;",
            "    for (int64_t j = 1; j < W; j++) dense_at[v] &= column_at[v * W + j] == column_at[v * W] + j;",
            "}",
        ]

    def _packing(self) -> list[str]:
        """One panel of columns; what lies behind the last column is never stored, so it may be anything."""
        if not self._packed():
            return []
        base = f"const float* right = {self.right_base()};"
        if self.is_spread():
            return [base, "pack_spread<C>(packed, right, row_at, inner, column_at + p * wide, dense_at + p * C);"]
        step, across = self.product.right.layout.strides[-2:]
        left = "columns - p * wide < wide ? columns - p * wide : wide"
        return [base, f"pack_panel<C>(packed, right + p * wide * {across}, {step}, {across}, inner, {left});"]

    def _tiles(self, rest: int) -> list[str]:
        left = self.product.left
        row, step = left.layout.strides[-2:]
        if self._packed():
            panel = "packed, wide"
        else:
            panel = f"{self.right_base()} + p * wide, {self.product.right.layout.strides[-2]}"
        base = self.base(left, len(left.shape) - 2)
        call = f"({base} + m * {row}, {row}, {step}, {panel}, inner, tile);"
        lines = [
            "V tile[R][C];",
            *self._finish(),
            "int64_t m = first;",
            "for (; m + R <= last; m += R) {",
            f"    product_tile<R, C>{call}",
            "    for (int r = 0; r < R; r++) finish(m + r, tile[r]);",
            "}",
        ]
        if rest:
            lines += [
                "if (m < last) {",
                f"    product_tile<{rest}, C>{call}",
                f"    for (int r = 0; r < {rest}; r++) finish(m + r, tile[r]);",
                "}",
            ]
        return lines

    def _finish(self) -> list[str]:
        """What is done to the sums of one row of a tile; the last panel may go beyond the last column."""
        whole = "group(yes(), number<C>(), from, W, sums);"
        single = [
            "for (int64_t c = 0; c < C && from + c * W < columns; c++) {",
            "    const int64_t left = columns - from - c * W;",
            "    group(no(), number<1>(), from + c * W, left < W ? left : W, sums + c);",
            "}",
        ]
        stored = (
            [whole]
            if self._ends_evenly()
            else [f"if (from + C * W <= columns) {whole}", f"else {single[0]}", *single[1:]]
        )
        body = [*self.of_a_row(), "const int64_t from = p * wide;", *stored]
        return ["auto finish = [&](int64_t m, const V* sums) STEP {", *indented(body), "};"]

    def _ends_evenly(self) -> bool:
        """Whether no tile goes beyond the last column: the last one has fewer vectors where columns leave it fewer."""
        return self.kernel.outer[-1] % self.genome.width == 0

    # Few rows, and both matrices dense along what is summed

    def _as_dots(self) -> bool:
        along = (self.product.left.layout.strides[-1], *self.product.right.layout.strides[-2:-1])
        few = self.kernel.outer[-2] <= FEW_ROWS
        return few and not self.is_spread() and along == (1, 1) and self.product.right.layout.strides[-1] != 1

    def _dots(self) -> list[str]:
        """Every row of the right matrix is read once, lanes along it; a vector of results is a task."""
        rows, columns = self.kernel.outer[-2:]
        left, right = self.product.left, self.product.right
        row, across = left.layout.strides[-2], right.layout.strides[-1]
        matrices = f"{self.base(left, len(left.shape) - 2)}, {row}, {self.right_base()} + from * {across}, {across}"
        head = [
            f"constexpr int R = {rows}, C = 1;",
            f"constexpr int64_t columns = {columns}, wide = W, inner = {self.inner};",
            "constexpr int64_t panels = (columns + W - 1) / W;",
        ]
        inside = [
            "const int64_t i0 = t / panels, p = t % panels, from = p * W;",
            "(void)i0;",
            "V tile[R][1];",
            f"dots<R>({matrices}, inner, columns - from < W ? columns - from : W, tile);",
            *self._finish(),
            "for (int r = 0; r < R; r++) finish(r, tile[r]);",
        ]
        tasks = self.batch * -(-columns // self.genome.width)
        share = f"#pragma omp parallel for schedule({self.genome.schedule})"
        share += f" num_threads({self.genome.threads})" if self.genome.threads else ""
        loop = [f"for (int64_t t = 0; t < {tasks}; t++) {{", *indented(inside), "}"]
        worth = tasks > 1 and self.batch * prod(self.kernel.outer[-2:]) * self.inner >= 1 << 16
        return [*head, *([share] if worth else []), *loop]
