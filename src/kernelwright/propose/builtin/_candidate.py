"""A candidate in C++: who writes which kernel."""

from __future__ import annotations

from kernelwright.propose.builtin._attended import AttentionKernel, attended
from kernelwright.propose.builtin._attention import Attention
from kernelwright.propose.builtin._columns import Columns
from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._kernels import Kernel, ProductKernel, ScanKernel, ScatterKernel, plan
from kernelwright.propose.builtin._loops import Buffer, Program
from kernelwright.propose.builtin._native import Writer
from kernelwright.propose.builtin._products import Products
from kernelwright.propose.builtin._rows import Rows
from kernelwright.propose.builtin._scans import Scans
from kernelwright.propose.builtin._scatters import Scatters
from kernelwright.propose.builtin._threads import Threads


def _emissions(kernel: Kernel, genome: Genome, written: set[Buffer], name: str) -> list[Emission]:
    frame = Frame(kernel)
    return [_kind(kernel, frame)(frame, genome, Threads(genome), written, name)]


def _planned(program: Program, genome: Genome) -> list[Kernel]:
    kernels = plan(program, genome)
    if genome.fuse != "all":
        return kernels
    return attended(kernels, {*program.outputs, *(buffer for _, buffer in program.changed)})


def _kind(kernel: Kernel, frame: Frame) -> type[Emission]:
    if isinstance(kernel, AttentionKernel):
        return Attention
    if isinstance(kernel, ProductKernel):
        return Products
    if isinstance(kernel, ScanKernel):
        return Scans
    if isinstance(kernel, ScatterKernel):
        return Scatters
    return Rows if frame.rows else Columns


candidate = Writer("cpp", '["-Wno-unused-but-set-parameter"]', _emissions, _planned).candidate
