"""Scatters: what goes to places that another value says, in turn where two may meet."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._emit import GROUP, Emission, coordinates, loop
from kernelwright.propose.builtin._frame import Frame, pointer
from kernelwright.propose.builtin._kernels import Kernel, Part, ScatterKernel
from kernelwright.propose.builtin._loops import Buffer, Layout, Scatter, Shape, accesses
from kernelwright.propose.builtin._scope import Scope, each, indented


class Scatters(Emission):
    """Values along the axis come one after the other; threads share what lies before it, or lanes behind it."""

    @property
    def scatter(self) -> Scatter:
        assert isinstance(self.kernel, ScatterKernel)
        assert self.kernel.scatter is not None
        return self.kernel.scatter

    def _read(self) -> list[Buffer]:
        scatter = self.scatter
        parts = (scatter.start, scatter.index, scatter.value)
        return list(dict.fromkeys(access.buffer for part in parts for access in accesses(part)))

    def body(self) -> list[str]:
        return [*self._begun(), *self.spread()]

    def _begun(self) -> list[str]:
        """The buffer as it is before anything is added."""
        scatter, kernel = self.scatter, beginning(self.scatter)
        frame, whole = Frame(kernel), kernel.parts[0].layout
        scope = Scope(frame, self.names, {})
        value = scope.value(scatter.start)
        scope.lines += [f"save(whole, {pointer(scatter.into)} + {frame.address(whole)}, 1, {value}, n);"]
        *outer, lanes = kernel.outer
        inside = [*coordinates("t", tuple(outer)), GROUP, *indented(each(scope.lines)), "};"]
        inside = ["{", *indented([*inside, *self.crew.lane_loop("0", str(lanes))]), "}"]
        return self.crew.parallel(self.kernel, prod(outer), inside, [])

    def spread(self) -> list[str]:
        axis, (*outer, lanes) = self.scatter.axis, self.kernel.outer
        group = [GROUP, *indented(each(self._added())), "};"]
        if axis == len(self.kernel.outer) - 1:
            inside = [*coordinates("t", tuple(outer)), *group, *self.crew.lane_loop("0", str(lanes))]
            return self.crew.parallel(self.kernel, prod(outer), inside, [])
        return self._by_lanes(tuple(outer), lanes, group, axis)

    def _by_lanes(self, outer: Shape, lanes: int, group: list[str], axis: int) -> list[str]:
        """All of the axis for a block of lanes, so that no two threads write at one place."""
        block = max(self.genome.width, -(-lanes // 8 // self.genome.width) * self.genome.width)
        blocks = -(-lanes // block)
        last = f"first + {block} < {lanes} ? first + {block} : {lanes}"
        inside = self.crew.lane_loop("first", "last")
        for place in reversed(range(axis, len(outer))):
            inside = loop(f"int64_t i{place}", outer[place], inside if place != len(outer) - 1 else [*group, *inside])
        at = [
            *coordinates(f"t / {blocks}", outer[:axis]),
            f"const int64_t first = t % {blocks} * {block}, last = {last};",
        ]
        return self.crew.parallel(self.kernel, prod(outer[:axis]) * blocks, [*at, *inside], [])

    def _added(self) -> list[str]:
        scatter, scope = self.scatter, self.scope()
        value, index = scope.value(scatter.value), scope.value(scatter.index)
        strides = tuple(0 if place == scatter.axis else one for place, one in enumerate(scatter.into.strides))
        at = f"{pointer(scatter.into)} + {self.frame.address(Layout(self.kernel.outer, 0, strides))}"
        along, step = scatter.into.strides[scatter.axis], strides[-1]
        if self.frame.moves(scatter.index, [self.frame.lane_axis]) or scatter.axis == len(self.kernel.outer) - 1:
            how = "yes()" if scatter.adds else "no()"
            return [*scope.lines, f"scattered(whole, {at}, {index}, {along}, {value}, {step}, n, {how});"]
        there = f"{at} + (int64_t)lane({index}, 0) * {along}"
        before = f"load(whole, {there}, n) + " if scatter.adds else ""
        return [*scope.lines, f"save(whole, {there}, {step}, {before}{value}, n);"]


def beginning(scatter: Scatter) -> Kernel:
    """What writes the buffer as it is before anything is added."""
    whole = Layout(scatter.into.shape, 0, scatter.into.strides)
    return Kernel(scatter.into.shape, (), [Part(scatter.into, whole, scatter.start)])
