"""Products of matrices: work-items sum tiles in registers; matrices go through local memory where that is worth it."""

from __future__ import annotations

from kernelwright.propose.builtin._matrices import Matrices
from kernelwright.propose.builtin._scope import indented
from kernelwright.propose.builtin.sycl._genome import SyclGenome

# Elements of the right matrix that are in local memory at a time, at most.
LOCAL_ROOM = 1 << 13


class Tiles(Matrices):
    """Groups share blocks of rows and panels of columns, work-items of a group stand over and beside each other."""

    genome: SyclGenome

    def body(self) -> list[str]:
        rows, columns = self.kernel.outer[-2:]
        tall, wide = self._tall * stacked(self.genome), self._vectors * self._side * self.genome.width
        blocks, panels = -(-rows // tall), -(-columns // wide)
        left, right = self.product.left, self.right_base()
        inside = [
            f"constexpr int R = {self._tall}, C = {self._vectors};",
            f"constexpr int64_t rows = {rows}, columns = {columns}, inner = {self.inner};",
            f"constexpr int64_t panels = {panels}, blocks = {blocks}, wide = {wide}, tall = {tall};",
            "const int64_t i0 = t / (panels * blocks), p = t / blocks % panels, above = t % blocks * tall;",
            f"const int64_t me = item.get_local_id(0), down = me / {self._side} * R;",
            "const int64_t from = p * wide + mine;",
            "(void)i0;",
            f"const float* const left = {self.base(left, len(left.shape) - 2)};",
            f"const float* const right = {right};",
            "V tile[R][C] = {};",
            *(self._through_local() if self._is_staged() else self._straight()),
            *self._stored(),
        ]
        return self.crew.parallel(self.kernel, self.batch * panels * blocks, inside, [])

    @property
    def _side(self) -> int:
        """Work-items side by side."""
        return self.genome.items // stacked(self.genome)

    @property
    def _tall(self) -> int:
        """Rows of a work-item's tile."""
        return min(self.genome.tile_rows, -(-self.kernel.outer[-2] // stacked(self.genome)))

    @property
    def _vectors(self) -> int:
        """Vectors in each of them."""
        return min(self.genome.tile_columns, -(-self.kernel.outer[-1] // (self._side * self.genome.width)))

    def _is_staged(self) -> bool:
        """Whether the right matrix goes through local memory; it must, where a vector of it does not lie densely."""
        dense = not self.is_spread() and self.product.right.layout.strides[-1] == 1
        return not dense or self.kernel.outer[-1] % self.genome.width != 0 or self.genome.local != "auto"

    # Sums

    def _straight(self) -> list[str]:
        """Columns behind the last are never stored, so they may be anything."""
        step = self.product.right.layout.strides[-2]
        return [
            *self._left_rows(),
            "const float* b_at[C];",
            "each<C>([&](auto c) STEP { b_at[c] = right + (from + c * APART < columns ? from + c * APART : 0); });",
            "for (int64_t k = 0; k < inner; k++) {",
            *indented(self._step(f"b_at[c] + k * {step}", f"a_at[r][k * {self._along}]")),
            "}",
        ]

    @property
    def _along(self) -> int:
        return self.product.left.layout.strides[-1]

    def _left_rows(self) -> list[str]:
        row = self.product.left.layout.strides[-2]
        at = "above + down + r < rows ? above + down + r : rows - 1"
        return ["const float* a_at[R];", f"each<R>([&](auto r) STEP {{ a_at[r] = left + ({at}) * {row}; }});"]

    def _step(self, right: str, left: str) -> list[str]:
        """One element of each row, and one row of columns."""
        return [
            "V b[C];",
            f"each<C>([&](auto c) STEP {{ b[c] = load(yes(), {right}, W); }});",
            "each<R>([&](auto r) STEP {",
            f"    const V x = splat({left});",
            "    each<C>([&](auto c) STEP { tile[r][c] += x * b[c]; });",
            "});",
        ]

    def _through_local(self) -> list[str]:
        both = self.genome.local == "both"
        left = "lefts[(down + r) * deep + k]" if both else f"a_at[r][(start + k) * {self._along}]"
        meet = "sycl::group_barrier(team);"
        inside = [
            "const int64_t end = inner - start < deep ? inner - start : deep;",
            *([meet] if self._deep < self.inner else []),
            *self._right_copied(),
            *(self._left_copied() if both else []),
            meet,
            "for (int64_t k = 0; k < end; k++) {",
            *indented(self._step("rights + k * wide + mine + c * APART", left)),
            "}",
        ]
        return [
            f"constexpr int64_t deep = {self._deep};",
            *_local("rights", "deep * wide"),
            *(_local("lefts", "tall * deep") if both else self._left_rows()),
            "for (int64_t start = 0; start < inner; start += deep) {",
            *indented(inside),
            "}",
        ]

    @property
    def _deep(self) -> int:
        wide = self._vectors * self._side * self.genome.width
        return max(1, min(self.genome.depth, self.inner, LOCAL_ROOM // wide))

    def _right_copied(self) -> list[str]:
        """Neighbours read what lies side by side."""
        by_rows = not self.is_spread() and self.product.right.layout.strides[-2] == 1
        place = "j = e % deep, i = e / deep" if by_rows else "j = e / wide, i = e % wide"
        value = f"right[{self.row_at('k')} + {self.column_at('n')}]"
        return [
            f"for (int64_t e = me; e < deep * wide; e += {self.genome.items}) {{",
            f"    const int64_t {place}, k = start + j, n = p * wide + i;",
            f"    rights[j * wide + i] = k < inner && n < columns ? {value} : 0.0f;",
            "}",
        ]

    def _left_copied(self) -> list[str]:
        row = self.product.left.layout.strides[-2]
        return [
            f"for (int64_t e = me; e < tall * deep; e += {self.genome.items}) {{",
            "    const int64_t m = above + e / deep, k = start + e % deep;",
            f"    lefts[e] = m < rows && k < inner ? left[m * {row} + k * {self._along}] : 0.0f;",
            "}",
        ]

    # What is done with them

    def _stored(self) -> list[str]:
        whole = "group(yes(), number<C>(), from, W, tile[r]);"
        single = [
            "const int64_t at = from + c * APART;",
            "if (at + W <= columns) group(yes(), number<1>(), at, W, tile[r] + c);",
            "else if (at < columns) group(no(), number<1>(), at, columns - at, tile[r] + c);",
        ]
        some = ["each<C>([&](auto c) STEP {", *indented(single), "});"]
        even = self.kernel.outer[-1] % (self._vectors * self._side * self.genome.width) == 0
        stored = (
            [whole] if even else ["if (p * wide + wide <= columns) {", f"    {whole}", "} else {", *indented(some), "}"]
        )
        row = ["const int64_t m = above + down + r;", "if (m >= rows) return;", *self.of_a_row(), *stored]
        return ["each<R>([&](auto r) STEP {", *indented(row), "});"]


def stacked(genome: SyclGenome) -> int:
    """Work-items of a group one above the other."""
    return min(genome.stack, genome.items)


def _local(name: str, size: str) -> list[str]:
    return [
        f"static syclexp::work_group_static<float[{size}]> {name}_room;",
        f"float (&{name})[{size}] = {name}_room;",
    ]
