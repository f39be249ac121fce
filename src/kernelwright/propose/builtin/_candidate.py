"""A candidate: the kernels of a program in one C++ text, and the Python around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.propose.builtin._capture import Graph, Weight
from kernelwright.propose.builtin._columns import Columns
from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._kernels import Kernel, ProductKernel, ScanKernel, ScatterKernel, plan
from kernelwright.propose.builtin._lanes import EXACTLY, lanes, uses_series
from kernelwright.propose.builtin._loops import Buffer, Program
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


def declare(model, name, shape, dtype, trained):
    """A weight under the reference's name; its value is given later."""
    *path, last = name.split(".")
    for step in path:
        if not hasattr(model, step):
            setattr(model, step, torch.nn.Module())
        model = getattr(model, step)
    value = torch.zeros(shape, dtype=dtype)
    if trained:
        setattr(model, last, torch.nn.Parameter(value))
    else:
        model.register_buffer(last, value)


class ModelNew(torch.nn.Module):
    def __init__(self, *arguments):
        super().__init__()
{weights}
    def forward(self{parameters}):
{forward}
'''


@dataclass(frozen=True)
class Written:
    """A case's graph and the program that was made of it."""

    graph: Graph
    program: Program


def candidate(title: str, cases: Sequence[Written], genome: Genome) -> str:
    """The Python file of a candidate for all cases; which it is, its shapes tell."""
    emitted = [_emitted(case.program, genome, f"case{number}_") for number, case in enumerate(cases)]
    kernels = "\n\n".join(one.text() for all_of in emitted for one in all_of)
    text = f"{lanes(genome.width, genome.functions if uses_series(kernels) else EXACTLY)}\n\n{kernels}"
    inputs = cases[0].graph.inputs
    return TEMPLATE.format(
        title=title,
        header=genome.header,
        text=text,
        weights="".join(f"        {_declared(weight)}\n" for weight in cases[0].graph.state),
        parameters="".join(f", x{place}" for place in range(len(inputs))),
        forward="\n".join(f"        {line}" for line in _forward(cases, emitted)),
    )


def _emitted(program: Program, genome: Genome, prefix: str) -> list[Emission]:
    kernels = plan(program, genome)
    written = _in_memory(program, kernels)
    return [_emission(one, genome, written, f"{prefix}kernel{number}") for number, one in enumerate(kernels)]


def _emission(kernel: Kernel, genome: Genome, written: set[Buffer], name: str) -> Emission:
    frame = Frame(kernel)
    if isinstance(kernel, ProductKernel):
        return Products(frame, genome, written, name)
    if isinstance(kernel, ScanKernel):
        return Scans(frame, genome, written, name)
    if isinstance(kernel, ScatterKernel):
        return Scatters(frame, genome, written, name)
    return (Rows if frame.rows else Columns)(frame, genome, written, name)


def _in_memory(program: Program, kernels: Sequence[Kernel]) -> set[Buffer]:
    """Buffers that must be written: outputs, and what another kernel reads."""
    found = {*program.outputs, *(buffer for _, buffer in program.changed)}
    for kernel in kernels:
        found |= {buffer for other in kernels if other is not kernel for buffer in other.made() & kernel.read()}
        found |= {part.into for part in kernel.parts if not part.how}
    return found


def _declared(weight: Weight) -> str:
    return f"declare(self, {weight.name!r}, {weight.shape}, torch.{weight.dtype}, {weight.trained})"


# *** the call ***


def _forward(cases: Sequence[Written], emitted: Sequence[list[Emission]]) -> list[str]:
    lines = [
        f"x{place} = x{place}.contiguous()" for place, shape in enumerate(cases[0].graph.inputs) if shape is not None
    ]
    for case, kernels in zip(cases, emitted, strict=True):
        lines += [f"if {_recognised(case.graph)}:", *(f"    {line}" for line in _calls(case, kernels))]
    return [*lines, 'raise ValueError("written for the shapes of the task\'s cases alone")']


def _recognised(graph: Graph) -> str:
    shapes = [f"x{place}.shape == {shape}" for place, shape in enumerate(graph.inputs) if shape is not None]
    return " and ".join(shapes) or "True"


def _calls(case: Written, kernels: Sequence[Emission]) -> list[str]:
    made = dict.fromkeys(buffer for one in kernels for buffer in one.buffers if buffer.role in ("inner", "output"))
    lines = [f"{buffer.name} = torch.empty({buffer.shape}, dtype=torch.{buffer.dtype})" for buffer in made]
    for one in kernels:
        lines += [f"lib.{one.name}({', '.join(_argument(buffer) for buffer in one.buffers)})"]
    lines += [f"self.{name}.copy_({buffer.name})" for name, buffer in case.program.changed]
    return [*lines, f"return {_result(case)}"]


def _argument(buffer: Buffer) -> str:
    return f"self.{buffer.name}" if buffer.role == "weight" else buffer.name


def _result(case: Written) -> str:
    names = ", ".join(buffer.name for buffer in case.program.outputs)
    if not case.graph.structure:
        return names
    return f"[{names}]" if case.graph.structure == "list" else f"({names},)"
