"""The Python around kernels, the same in every language: weights by their names, and who is called when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernelwright.propose.builtin._capture import Graph, Weight
from kernelwright.propose.builtin._kernels import Kernel
from kernelwright.propose.builtin._loops import Buffer, Program

TEMPLATE = '''def declare(model, name, shape, dtype, trained):
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


class Launch(Protocol):
    """A kernel as the model sees it."""

    @property
    def buffers(self) -> list[Buffer]:
        """What it is called with."""

    def call(self, arguments: Sequence[str]) -> str:
        """The line that calls it."""


def model(cases: Sequence[Written], launches: Sequence[Sequence[Launch]], *, device: str = "") -> str:
    """The class that calls a case's kernels. `device`: where new memory is asked for, if not where torch does."""
    return TEMPLATE.format(
        weights="".join(f"        {_declared(weight)}\n" for weight in cases[0].graph.state),
        parameters="".join(f", x{place}" for place in range(len(cases[0].graph.inputs))),
        forward="\n".join(f"        {line}" for line in _forward(cases, launches, device)),
    )


def in_memory(program: Program, kernels: Sequence[Kernel]) -> set[Buffer]:
    """Buffers that must be written: outputs, and what another kernel reads."""
    found = {*program.outputs, *(buffer for _, buffer in program.changed)}
    for kernel in kernels:
        found |= {buffer for other in kernels if other is not kernel for buffer in other.made() & kernel.read()}
        found |= {part.into for part in kernel.parts if not part.how}
    return found


def _declared(weight: Weight) -> str:
    return f"declare(self, {weight.name!r}, {weight.shape}, torch.{weight.dtype}, {weight.trained})"


# *** the call ***


def _forward(cases: Sequence[Written], launches: Sequence[Sequence[Launch]], device: str) -> list[str]:
    lines = [
        f"x{place} = x{place}.contiguous()" for place, shape in enumerate(cases[0].graph.inputs) if shape is not None
    ]
    for case, kernels in zip(cases, launches, strict=True):
        lines += [f"if {_recognised(case.graph)}:", *(f"    {line}" for line in _calls(case, kernels, device))]
    return [*lines, 'raise ValueError("written for the shapes of the task\'s cases alone")']


def _recognised(graph: Graph) -> str:
    shapes = [f"x{place}.shape == {shape}" for place, shape in enumerate(graph.inputs) if shape is not None]
    return " and ".join(shapes) or "True"


def _calls(case: Written, kernels: Sequence[Launch], device: str) -> list[str]:
    made = dict.fromkeys(buffer for one in kernels for buffer in one.buffers if buffer.role in ("inner", "output"))
    there = f", device={device}" if device else ""
    lines = [f"{buffer.name} = torch.empty({buffer.shape}, dtype=torch.{buffer.dtype}{there})" for buffer in made]
    lines += [one.call([_argument(buffer) for buffer in one.buffers]) for one in kernels]
    lines += [f"self.{name}.copy_({buffer.name})" for name, buffer in case.program.changed]
    return [*lines, f"return {_result(case)}"]


def _argument(buffer: Buffer) -> str:
    return f"self.{buffer.name}" if buffer.role == "weight" else buffer.name


def _result(case: Written) -> str:
    names = ", ".join(buffer.name for buffer in case.program.outputs)
    if not case.graph.structure:
        return names
    return f"[{names}]" if case.graph.structure == "list" else f"({names},)"
