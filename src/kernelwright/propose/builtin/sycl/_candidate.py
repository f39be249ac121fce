"""A candidate in SYCL: who writes which kernel, and who shares its work."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.propose.builtin._beforehand import with_dense_rights
from kernelwright.propose.builtin._columns import Columns
from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._kernels import Kernel, ProductKernel, ScanKernel, ScatterKernel, plan
from kernelwright.propose.builtin._loops import Buffer, Program
from kernelwright.propose.builtin._native import Writer
from kernelwright.propose.builtin._rows import Rows
from kernelwright.propose.builtin._scans import Scans
from kernelwright.propose.builtin._scatters import Scatters, beginning
from kernelwright.propose.builtin.sycl._genome import SyclGenome
from kernelwright.propose.builtin.sycl._tiles import Tiles, stacked
from kernelwright.propose.builtin.sycl._work_items import GROUP, ITEM, WorkItems

# Kernels that need different things of a device (doubles, a size of sub-groups) would become several programs.
TOGETHER = "-fsycl-device-code-split=off"


def _emissions(kernel: Kernel, genome: SyclGenome, written: set[Buffer], name: str) -> list[Emission]:
    frame = Frame(kernel)
    if isinstance(kernel, ProductKernel):
        crew = WorkItems(genome, GROUP, genome.items // stacked(genome))
        return [Tiles(frame, genome, crew, written, name)]
    if isinstance(kernel, ScanKernel):
        along = kernel.axis == len(kernel.outer) - 1
        return [Scans(frame, genome, WorkItems(genome, genome.team if along else GROUP), written, name)]
    if isinstance(kernel, ScatterKernel):
        spread = _Spread(frame, genome, WorkItems(genome, ITEM), written, name)
        begun = Frame(beginning(spread.scatter))
        return [Columns(begun, genome, WorkItems(genome, GROUP), written, f"{name}_begun"), spread]
    if frame.rows:
        return [Rows(frame, genome, WorkItems(genome, genome.team), written, name)]
    return [Columns(frame, genome, WorkItems(genome, GROUP), written, name)]


class _Spread(Scatters):
    """What goes to its places; a kernel before it wrote what was there. Who shares lanes would meet, so nobody does."""

    def body(self) -> list[str]:
        return self.spread()


def _planned(program: Program, genome: SyclGenome) -> list[Kernel]:
    if genome.turn:
        program = replace(program, statements=tuple(with_dense_rights(program.statements)))
    return plan(program, genome)


candidate = Writer("sycl", f'["{TOGETHER}"]', _emissions, _planned).candidate
