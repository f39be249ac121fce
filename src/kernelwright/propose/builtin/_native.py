"""A candidate in C++ or SYCL: the kernels of a program in one text, and the Python around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kernelwright.propose.builtin._counting import refuse_large
from kernelwright.propose.builtin._emit import Emission
from kernelwright.propose.builtin._genome import LaneGenes
from kernelwright.propose.builtin._kernels import Kernel, plan
from kernelwright.propose.builtin._lanes import EXACTLY, lanes, uses_series
from kernelwright.propose.builtin._loops import Buffer, Program
from kernelwright.propose.builtin._model import Written, in_memory, model

TEMPLATE = '''"""{title}"""

{header}

import torch

from kernelwright import native

lib = native.{language}(
    r"""
{text}
""",
    flags={flags},
)


{model}'''
G = TypeVar("G", bound=LaneGenes)


@dataclass(frozen=True)
class Writer(Generic[G]):
    """Writes candidates in one language.

    Attributes:
        language: The verb of `kernelwright.native`.
        flags: Which the compiler is given, as text.
        emissions: What is written for a kernel: with the genome, the buffers that must be written, and its name.
        planned: The kernels of a program.
    """

    language: str
    flags: str
    emissions: Callable[[Kernel, G, set[Buffer], str], list[Emission]]
    planned: Callable[[Program, G], list[Kernel]] = plan

    def candidate(self, title: str, cases: Sequence[Written], genome: G) -> str:
        """The Python file of a candidate for all cases; which it is, its shapes tell."""
        for case in cases:
            refuse_large(case.graph)
        emitted = [self._emitted(case.program, genome, f"case{number}_") for number, case in enumerate(cases)]
        kernels = "\n\n".join(one.text() for all_of in emitted for one in all_of)
        functions = genome.functions if uses_series(kernels) else EXACTLY
        return TEMPLATE.format(
            title=title,
            header=genome.header,
            language=self.language,
            text=f"{lanes(genome.width, functions, self.language)}\n\n{kernels}",
            flags=self.flags,
            model=model(cases, emitted),
        )

    def _emitted(self, program: Program, genome: G, prefix: str) -> list[Emission]:
        kernels = self.planned(program, genome)
        written = in_memory(program, kernels)
        return [
            emission
            for number, kernel in enumerate(kernels)
            for emission in self.emissions(kernel, genome, written, f"{prefix}kernel{number}")
        ]
