"""What every writer of products needs to know: where matrices are, and what is done to a row of sums."""

from __future__ import annotations

from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import identifier, pointer
from kernelwright.propose.builtin._kernels import ProductKernel
from kernelwright.propose.builtin._loops import Access, Buffer, Layout, Product, dense, reads
from kernelwright.propose.builtin._scope import each, indented

GROUP = "auto group = [&](auto whole, auto count, int64_t from, int64_t n, const V* {name}) STEP {{"


class Matrices(Emission):
    """A product of matrices; which one of several it is, `i0` says."""

    stores_once = False  # tiles reach back over each other

    @property
    def product(self) -> Product:
        assert isinstance(self.kernel, ProductKernel)
        assert self.kernel.product is not None
        return self.kernel.product

    @property
    def batch(self) -> int:
        return self.kernel.outer[0] if len(self.kernel.outer) > 2 else 1

    @property
    def inner(self) -> int:
        return self.product.left.shape[-1]

    def _read(self) -> list[Buffer]:
        return list(dict.fromkeys([*sorted(reads(self.product), key=lambda one: one.name), *super()._read()]))

    def is_spread(self) -> bool:
        """Whether rows and columns of the right matrix are several axes in memory, as those of a window are."""
        return self.product.inner > 1 or self.product.across > 1

    def base(self, access: Access, batch: int) -> str:
        """Where the matrix of this product begins."""
        shape, strides = access.layout.shape[:batch], access.layout.strides[:batch]
        text = f"{pointer(access.buffer)} + {access.layout.offset}"
        for size, count, stride in zip(shape, dense(shape), strides, strict=True):
            if stride:
                text += f" + i0 / {count} % {size} * {stride}"
        return text

    def right_base(self) -> str:
        right = self.product.right
        return self.base(right, len(right.shape) - self.product.inner - self.product.across)

    def row_at(self, number: str) -> str:
        """Where a row of the right matrix is, from where that begins."""
        end = len(self.product.right.shape) - self.product.across
        return counted(number, self.product.right.layout, range(end - self.product.inner, end))

    def column_at(self, number: str) -> str:
        rank = len(self.product.right.shape)
        return counted(number, self.product.right.layout, range(rank - self.product.across, rank))

    @property
    def sums(self) -> str:
        return identifier(self.product.into)

    def of_a_row(self) -> list[str]:
        """`group`: what is done to vectors of sums of row `m` before they are stored."""
        scope = self.scope()
        for part in self.kernel.parts:
            if part.into in self.in_memory:
                value = f"{self.sums}[u]" if part.how else scope.value(part.expression)
                scope.lines += [self.saving(part, value)]
        row = f"const int64_t i{len(self.kernel.outer) - 2} = m;"
        return [row, GROUP.format(name=self.sums), *indented(each(scope.lines)), "};"]


def counted(number: str, layout: Layout, axes: range) -> str:
    """The address of a point that is counted through along several axes."""
    shape = tuple(layout.shape[axis] for axis in axes)
    terms = []
    for axis, size, count in zip(axes, shape, dense(shape), strict=True):
        place = number if count == 1 else f"{number} / {count}"
        terms += [f"{place}{f' % {size}' if axis != axes[0] else ''} * {layout.strides[axis]}"]
    return " + ".join(terms)
