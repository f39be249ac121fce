"""A candidate in Triton: the kernels of a program, and the Python around them."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.propose.builtin._counting import refuse_far
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._kernels import Kernel, ProductKernel, ScanKernel, ScatterKernel, fused
from kernelwright.propose.builtin._loops import Buffer, Scatter
from kernelwright.propose.builtin._lower import made_where_read
from kernelwright.propose.builtin._model import Written, in_memory, model
from kernelwright.propose.builtin.triton._emission import Emission, Text
from kernelwright.propose.builtin.triton._functions import helpers
from kernelwright.propose.builtin.triton._genome import TritonGenome
from kernelwright.propose.builtin.triton._parts import cut
from kernelwright.propose.builtin.triton._products import Products
from kernelwright.propose.builtin.triton._scans import Scans
from kernelwright.propose.builtin.triton._unpadded import unpadded
from kernelwright.propose.builtin.triton._windows import side_by_side, written_out

TEMPLATE = '''"""{title}"""

{header}

import torch
import triton
import triton.language as tl


{helpers}{kernels}


{model}'''
# Operators that become a statement which only other languages know here.
SCATTERS = ("aten.scatter", "aten.index_add.", "aten.index_put.")


def candidate(title: str, cases: Sequence[Written], genome: TritonGenome) -> str:
    """The Python file of a candidate for all cases; which it is, its shapes tell."""
    emitted = [_emitted(case, genome, f"case{number}_") for number, case in enumerate(cases)]
    kernels = "\n\n\n".join(one.text() for all_of in emitted for one in all_of)
    return TEMPLATE.format(
        title=title,
        header=genome.header,
        helpers=helpers(kernels),
        kernels=kernels,
        model=model(cases, emitted, device=_device(cases[0])),
    )


def _device(case: Written) -> str:
    """Where the inputs are, or the weights if there are none."""
    place = next((place for place, shape in enumerate(case.graph.inputs) if shape is not None), None)
    if place is not None:
        return f"x{place}.device"
    return f"self.{case.graph.state[0].name}.device" if case.graph.state else ""


def _emitted(case: Written, genome: TritonGenome, prefix: str) -> list[Text]:
    _refuse(case)
    statements = made_where_read(written_out(unpadded(case.program.statements)))
    kernels = fused(cut(statements, genome.parts), genome.fuse)
    kernels = [side_by_side(kernel, genome.rows) for kernel in kernels]
    written = in_memory(case.program, kernels)
    return [_emission(one, genome, written, f"{prefix}kernel{number}") for number, one in enumerate(kernels)]


def _emission(kernel: Kernel, genome: TritonGenome, written: set[Buffer], name: str) -> Text:
    assert not isinstance(kernel, ScatterKernel)
    if isinstance(kernel, ScanKernel):
        return Scans(kernel, genome, written, name)
    if isinstance(kernel, ProductKernel):
        return Products(Frame(kernel), genome, written, name)
    return Emission(Frame(kernel), genome, written, name)


def _refuse(case: Written) -> None:
    refuse_far(case.program)
    if any(isinstance(statement, Scatter) for statement in case.program.statements):
        name = next((node.op for node in case.graph.nodes if node.op.startswith(SCATTERS)), SCATTERS[0])
        raise CannotWriteError(
            f"the built-in synthesiser does not write the operator {name} in Triton.",
            "Say --backend cpp, or name a model with --model.",
        )
