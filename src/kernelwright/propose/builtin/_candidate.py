"""A candidate in C++: the kernels of a program in one text, and the Python around them."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.propose.builtin._attended import AttentionKernel, attended
from kernelwright.propose.builtin._attention import Attention
from kernelwright.propose.builtin._columns import Columns
from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._kernels import Kernel, ProductKernel, ScanKernel, ScatterKernel, plan
from kernelwright.propose.builtin._lanes import EXACTLY, lanes, uses_series
from kernelwright.propose.builtin._loops import Buffer, Program
from kernelwright.propose.builtin._model import Written, in_memory, model
from kernelwright.propose.builtin._products import Products
from kernelwright.propose.builtin._rows import Rows
from kernelwright.propose.builtin._scans import Scans
from kernelwright.propose.builtin._scatters import Scatters

TEMPLATE = '''"""{title}"""

{header}

import torch

from kernelwright import native

lib = native.cpp(
    r"""
{text}
""",
    flags=["-Wno-unused-but-set-parameter"],
)


{model}'''


def candidate(title: str, cases: Sequence[Written], genome: Genome) -> str:
    """The Python file of a candidate for all cases; which it is, its shapes tell."""
    emitted = [_emitted(case.program, genome, f"case{number}_") for number, case in enumerate(cases)]
    kernels = "\n\n".join(one.text() for all_of in emitted for one in all_of)
    text = f"{lanes(genome.width, genome.functions if uses_series(kernels) else EXACTLY)}\n\n{kernels}"
    return TEMPLATE.format(title=title, header=genome.header, text=text, model=model(cases, emitted))


def _emitted(program: Program, genome: Genome, prefix: str) -> list[Emission]:
    kernels = plan(program, genome)
    if genome.fuse == "all":
        kernels = attended(kernels, {*program.outputs, *(buffer for _, buffer in program.changed)})
    written = in_memory(program, kernels)
    return [_emission(one, genome, written, f"{prefix}kernel{number}") for number, one in enumerate(kernels)]


def _emission(kernel: Kernel, genome: Genome, written: set[Buffer], name: str) -> Emission:
    frame = Frame(kernel)
    if isinstance(kernel, AttentionKernel):
        return Attention(frame, genome, written, name)
    if isinstance(kernel, ProductKernel):
        return Products(frame, genome, written, name)
    if isinstance(kernel, ScanKernel):
        return Scans(frame, genome, written, name)
    if isinstance(kernel, ScatterKernel):
        return Scatters(frame, genome, written, name)
    return (Rows if frame.rows else Columns)(frame, genome, written, name)
