"""Scans: a block along the axis at a time, and what came before it carried along.

What reads and writes from behind is mirrored: addresses go forward, so that loads are wide, and the scan goes backward.
"""

from __future__ import annotations

from dataclasses import replace

from kernelwright.propose.builtin._frame import Frame, identifier
from kernelwright.propose.builtin._kernels import Kernel, ScanKernel
from kernelwright.propose.builtin._loops import Buffer, accesses
from kernelwright.propose.builtin._scope import indented
from kernelwright.propose.builtin._views import flip, permute, viewed
from kernelwright.propose.builtin.triton._emission import Emission
from kernelwright.propose.builtin.triton._genome import TritonGenome
from kernelwright.propose.builtin.triton._places import Chunk, needed

SCANNED = {"sum": ("tl.cumsum", "+", "0.0"), "prod": ("tl.cumprod", "*", "1.0")}


class Scans(Emission):
    """What is scanned is a row."""

    def __init__(self, scan: ScanKernel, genome: TritonGenome, in_memory: set[Buffer], name: str) -> None:
        kernel = _along(scan)
        self._mirrored = _goes_backward(kernel, in_memory)
        super().__init__(Frame(_turned_round(kernel) if self._mirrored else kernel), genome, in_memory, name)

    def body(self) -> list[str]:
        how = str(self.kernel.parts[0].how)
        shape = f"[{self.tile.rows}, 1]" if self.tile.spread else "[]"
        if self._kept:
            self._step(self._kept, "")
            return self._with_kept([*self.sheet.lines, *self._kept.lines])
        carry = self.sheet.say(f"tl.full({shape}, {SCANNED[how][2]}, tl.float32)")
        chunk = self.tile.looped_chunk(backward=self._mirrored)
        self._step(chunk, carry)
        inside = [*needed(chunk.definitions, chunk.lines), *chunk.lines]
        return [*self.sheet.lines, f"for step in {self._range()}:", *indented(inside)]

    def _step(self, chunk: Chunk, carry: str) -> None:
        """The next places, and what is made of them."""
        first, *more = self.kernel.parts
        name, (scanned, with_, neutral) = identifier(first.into), SCANNED[str(first.how)]
        value = self.sheet.value(first.expression, chunk)
        value = f"tl.where({chunk.mask}, {value}, {neutral})" if chunk.mask else value
        axis, keep = self.tile.axis.split(", ")
        reverse = ", reverse=True" if self._mirrored else ""
        chunk.lines += [f"{name} = {scanned}({value}, {axis}{reverse}){f' {with_} {carry}' if carry else ''}"]
        if carry:
            numbers = f"tl.arange(0, {self.tile.block}){'[None, :]' if self.tile.spread else ''}"
            last = f"tl.where({numbers} == {0 if self._mirrored else self.tile.block - 1}, {name}, 0.0)"
            chunk.lines += [f"{carry} = tl.sum({last}, {axis}, keep_dims={keep})"]
        for part in [first, *more] if first.into in self.in_memory else more:
            found = name if part.how else self.sheet.value(part.expression, chunk)
            chunk.lines += [self.sheet.store(part, found, chunk)]


def _along(scan: ScanKernel) -> Kernel:
    """The axis that is scanned as the only one of a row."""
    others = tuple(axis for axis in range(len(scan.outer)) if axis != scan.axis)
    turn = permute((*others, scan.axis))
    parts = [replace(part, layout=turn(part.layout), expression=viewed(part.expression, turn)) for part in scan.parts]
    return Kernel(tuple(scan.outer[axis] for axis in others), (scan.outer[scan.axis],), parts)


def _goes_backward(kernel: Kernel, in_memory: set[Buffer]) -> bool:
    """Whether most addresses fall along the axis that is scanned."""
    read = [one.layout for part in kernel.parts for one in accesses(part.expression) if one.buffer not in kernel.own]
    written = [part.layout for part in kernel.parts if part.into in in_memory]
    strides = [layout.strides[-1] for layout in (*read, *written)]
    return sum(stride < 0 for stride in strides) > sum(stride > 0 for stride in strides)


def _turned_round(kernel: Kernel) -> Kernel:
    turn = flip(len(kernel.shape) - 1)
    parts = [replace(part, layout=turn(part.layout), expression=viewed(part.expression, turn)) for part in kernel.parts]
    return replace(kernel, parts=parts)
