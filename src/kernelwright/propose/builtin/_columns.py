"""Kernels whose lanes run across rows, or that have no rows: pointwise ones, and reductions along other axes."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._emit import GROUP, Emission, accumulated, cleared, coordinates, loop
from kernelwright.propose.builtin._frame import identifier
from kernelwright.propose.builtin._kernels import Part
from kernelwright.propose.builtin._scope import Scope, each, indented

# Rows that are summed in float before they are added to the sum so far.
STRETCH = 256


class Columns(Emission):
    """Each lane is a row of its own, so nothing is ever joined across lanes."""

    def body(self) -> list[str]:
        *outer, lanes = self.kernel.outer
        block = self._block()
        blocks = -(-lanes // block)
        last = f"first + {block} < {lanes} ? first + {block} : {lanes}"
        at = [
            *coordinates(f"t / {blocks}", tuple(outer)),
            *([f"const int64_t first = t % {blocks} * {block}, last = {last};"] if blocks > 1 else []),
        ]
        self._outside: list[str] = []
        inside = [line for level in self.passes() for line in self._pass(level)] + self._results()
        group = [*self._outside, GROUP, *indented(inside), "};"]
        ends = ("0", str(lanes)) if blocks == 1 else ("first", "last")
        inside = [*at, *group, *self.crew.lane_loop(*ends)]
        return self.crew.parallel(self.kernel, prod(outer) * blocks, inside, [])

    def scope(self) -> Scope:
        return Scope(self.frame, self.names, {}, hoists=not self.kernel.inner)

    def _block(self) -> int:
        """Lanes of a task: as many as make a block of elements, in whole steps."""
        wanted = self.genome.block // (prod(self.kernel.inner) if self.kernel.inner else 1)
        return max(1, -(-wanted // self.crew.stride)) * self.crew.stride

    def _pass(self, level: int) -> list[str]:
        parts, scope = self.in_pass(level), self.scope()
        for part in parts:
            value = scope.value(part.expression)
            name = f"{identifier(part.into)}[u]"
            scope.lines += [accumulated(part, name, value) if part.how else self.saving(part, value)]
        if not parts:
            return []
        self._outside += scope.outside
        step = each(scope.lines)
        for place in reversed(range(1, len(self.kernel.inner))):
            step = loop(f"int64_t j{place}", self.kernel.inner[place], step)
        made = [line for part in parts if part.how for line in cleared(part, identifier(part.into), "count.value")]
        return [*scope.before, *made, *(self._outermost(step, parts) if self.kernel.inner else step)]

    def _outermost(self, step: list[str], parts: list[Part]) -> list[str]:
        """The first inner loop, in stretches, so that no sum of floats grows long."""
        size, sums = self.kernel.inner[0], [identifier(part.into) for part in parts if part.how == "sum"]
        if not sums or size <= STRETCH:
            return loop("int64_t j0", size, step)
        end = f"const int64_t end = start + {STRETCH} < {size} ? start + {STRETCH} : {size};"
        aside = [f"V {name}_before[count.value];" for name in sums]
        aside += [
            f"for (int c = 0; c < count.value; c++) {name}_before[c] = {name}[c], {name}[c] = V{{}};" for name in sums
        ]
        inside = ["for (int64_t j0 = start; j0 < end; j0++) {", *indented(step), "}"]
        back = [f"for (int c = 0; c < count.value; c++) {name}[c] += {name}_before[c];" for name in sums]
        head = f"for (int64_t start = 0; start < {size}; start += {STRETCH}) {{"
        return [head, *indented([end, *aside, *inside, *back]), "}"]

    def _results(self) -> list[str]:
        scope, lines = self.scope(), []
        for part in self.row_results():
            value = f"{identifier(part.into)}[u]" if part.how else scope.value(part.expression)
            lines += [self.saving(part, value)]
        return [*scope.before, *each(lines)] if lines else []
