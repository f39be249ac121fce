"""Products of matrices: the right one packed into panels of columns, tiles of sums in registers, and what is made of a
tile's elements done to it before it is stored."""

from __future__ import annotations

from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import identifier, pointer
from kernelwright.propose.builtin._kernels import ProductKernel
from kernelwright.propose.builtin._loops import Buffer, Layout, Product, reads
from kernelwright.propose.builtin._scope import each, indented

GROUP = "auto group = [&](auto whole, auto count, int64_t from, int64_t n, const V* {name}) STEP {{"
FEWEST_TASKS = 8


class Products(Emission):
    """Threads share the rows of one product, or the products where there are several."""

    @property
    def _product(self) -> Product:
        assert isinstance(self.kernel, ProductKernel)
        assert self.kernel.product is not None
        return self.kernel.product

    @property
    def _batch(self) -> int:
        return self.kernel.outer[0] if len(self.kernel.outer) > 2 else 1

    def _read(self) -> list[Buffer]:
        return list(dict.fromkeys([*sorted(reads(self._product), key=lambda one: one.name), *super()._read()]))

    def body(self) -> list[str]:
        columns = self.genome.tile_columns * self.genome.width
        inner = self._product.left.shape[-1]
        panels = -(-self.kernel.outer[-1] // columns)
        head = [
            f"constexpr int R = {self.genome.tile_rows}, C = {self.genome.tile_columns};",
            f"constexpr int64_t rows = {self.kernel.outer[-2]}, columns = {self.kernel.outer[-1]}, inner = {inner};",
            f"constexpr int64_t panels = {panels}, wide = C * W;",
        ]
        room = "(float*)std::aligned_alloc(64, (panels * inner * wide * sizeof(float) + 63) / 64 * 64)"
        made, freed = f"float* packed = {room};", "std::free(packed);"
        threads = f" num_threads({self.genome.threads})" if self.genome.threads else ""
        team = f"#pragma omp parallel{threads}"
        if self._batch > 1:
            inside = [made, *self._shared("i0", "0", str(self._batch), [*self._panels(), *self._blocks("")]), freed]
            return [*head, team, "{", *indented(inside), "}"]
        share = f"#pragma omp for schedule({self.genome.schedule})"
        inside = [*self._fixed(), "#pragma omp for", *self._panels(), *self._blocks(share)]
        return [*head, made, team, "{", *indented(inside), "}", freed]

    def _fixed(self) -> list[str]:
        """A single product among products has a number all the same."""
        return ["const int64_t i0 = 0;", "(void)i0;"] if len(self.kernel.outer) > 2 else []

    def _shared(self, counter: str, start: str, end: str, inside: list[str]) -> list[str]:
        head = f"for (int64_t {counter} = {start}; {counter} < {end}; {counter}++) {{"
        return [f"#pragma omp for schedule({self.genome.schedule}) nowait", head, *indented(inside), "}"]

    def _panels(self) -> list[str]:
        """The right matrix in the order in which tiles read it, with zeros behind its last column."""
        right = self._product.right
        *batch, step, across = right.layout.strides
        base = self._base(right.layout, batch)
        at = f"{pointer(right.buffer)}[{base} + k * {step} + (p * wide + j) * {across}]"
        inside = [f"packed[(p * inner + k) * wide + j] = p * wide + j < columns ? {at} : 0.0f;"]
        order = ("k", "inner", "j", "wide") if across == 1 else ("j", "wide", "k", "inner")
        for counter, size in ((order[2], order[3]), (order[0], order[1]), ("p", "panels")):
            inside = [f"for (int64_t {counter} = 0; {counter} < {size}; {counter}++) {{", *indented(inside), "}"]
        return inside

    def _base(self, layout: Layout, batch: list[int]) -> str:
        return f"{layout.offset} + i0 * {batch[0]}" if batch else str(layout.offset)

    def _blocks(self, share: str) -> list[str]:
        """Blocks of rows, for each of which all panels are gone through."""
        least = -(-self.kernel.outer[-2] // FEWEST_TASKS)
        block = max(self.genome.tile_rows, min(self.genome.rows_at_once, least))
        inside = [
            f"const int64_t last = first + {block} < rows ? first + {block} : rows;",
            "for (int64_t p = 0; p < panels; p++) {",
            *indented(self._tiles()),
            "}",
        ]
        loop = [f"for (int64_t first = 0; first < rows; first += {block}) {{", *indented(inside), "}"]
        return [share, *loop] if share else loop

    def _tiles(self) -> list[str]:
        left = self._product.left
        *batch, row, step = left.layout.strides
        base = f"{pointer(left.buffer)} + {self._base(left.layout, batch)}"
        call = f"({base} + m * {row}, {row}, {step}, packed + p * inner * wide, inner, tile);"
        return [
            "V tile[R][C];",
            *self._finish(),
            "int64_t m = first;",
            "for (; m + R <= last; m += R) {",
            f"    product_tile<R, C>{call}",
            "    for (int r = 0; r < R; r++) finish(m + r, tile[r]);",
            "}",
            "for (; m < last; m++) {",
            f"    product_tile<1, C>{call}",
            "    finish(m, tile[0]);",
            "}",
        ]

    def _finish(self) -> list[str]:
        """What is done to the sums of one row of a tile; the last panel may go beyond the last column."""
        scope, name = self.scope(), self._sums
        for part in self.kernel.parts:
            if part.into in self.in_memory:
                value = f"{name}[u]" if part.how else scope.value(part.expression)
                scope.lines += [self.saving(part, value)]
        row = f"const int64_t i{len(self.kernel.outer) - 2} = m;"
        body = [
            row,
            GROUP.format(name=name),
            *indented(each(scope.lines)),
            "};",
            "const int64_t from = p * wide;",
            "if (from + wide <= columns) group(yes(), number<C>(), from, W, sums);",
            "else for (int64_t c = 0; c < C && from + c * W < columns; c++) {",
            "    const int64_t left = columns - from - c * W;",
            "    group(no(), number<1>(), from + c * W, left < W ? left : W, sums + c);",
            "}",
        ]
        return ["auto finish = [&](int64_t m, const V* sums) STEP {", *indented(body), "};"]

    @property
    def _sums(self) -> str:
        return identifier(self._product.into)
