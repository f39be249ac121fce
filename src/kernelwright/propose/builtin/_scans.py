"""Scans: lanes along the axis that is scanned, with a carry from vector to vector, or across it, each with its own."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._emit import GROUP, Emission, coordinates, loop
from kernelwright.propose.builtin._frame import identifier
from kernelwright.propose.builtin._kernels import ScanKernel
from kernelwright.propose.builtin._scope import each, indented

BEGIN = {"sum": "0.0", "prod": "1.0"}


class Scans(Emission):
    """Threads share rows, or blocks of lanes."""

    def body(self) -> list[str]:
        assert isinstance(self.kernel, ScanKernel)
        return self._along() if self.kernel.axis == len(self.kernel.outer) - 1 else self._across()

    @property
    def _how(self) -> str:
        return str(self.kernel.parts[0].how)

    def _along(self) -> list[str]:
        *outer, size = self.kernel.outer
        group = [GROUP, *indented(self._step(self.crew.scanned(self._how, "{}"))), "};"]
        lines = [
            *coordinates("t", tuple(outer)),
            f"double carry = {BEGIN[self._how]};",
            *group,
            *self.crew.in_order(size),
        ]
        return self.crew.parallel(self.kernel, prod(outer), lines, [])

    def _across(self) -> list[str]:
        *outer, size, lanes = self.kernel.outer
        block = self.crew.stride
        blocks = -(-lanes // block)
        last = f"first + {block} < {lanes} ? first + {block} : {lanes}"
        at = [
            *coordinates(f"t / {blocks}", tuple(outer)),
            f"const int64_t first = t % {blocks} * {block}, last = {last};",
        ]
        # What a sum of floats loses is carried along beside it.
        carried = "so_far(carry[u], lost[u], {})" if self._how == "sum" else "carry[u] *= {}"
        step = loop(f"int64_t i{len(outer)}", size, self._step(carried))
        begun = ["V carry[count.value], lost[count.value] = {};", f"for (V& v : carry) v = splat({BEGIN[self._how]}f);"]
        group = [GROUP, *indented([*begun, "(void)lost;", *step]), "};"]
        inside = [*at, *group, *self.crew.lane_loop("first", "last")]
        return self.crew.parallel(self.kernel, prod(outer) * blocks, inside, [])

    def _step(self, carried: str) -> list[str]:
        """The next value, and what is made of it."""
        scope, (first, *more) = self.scope(), self.kernel.parts
        name = identifier(first.into)
        value = scope.value(first.expression)
        scope.lines += [f"{name}[u] = {carried.format(value)};"]
        stored = [first, *more] if first.into in self.in_memory else more
        for part in stored:
            scope.lines += [self.saving(part, f"{name}[u]" if part.how else scope.value(part.expression))]
        return [f"V {name}[count.value];", *each(scope.lines)]
