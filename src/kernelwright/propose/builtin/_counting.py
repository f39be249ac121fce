"""How far kernels count: integers that they compute with have 32 bits, and so have places in some languages."""

from __future__ import annotations

from math import prod

from kernelwright.propose.builtin._capture import Graph
from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._loops import Place, Program, expressions, walk

MOST = 2**31 - 1
FIX = "Say smaller sizes with --set or --fit, or name a model with --model."


def refuse_large(graph: Graph) -> None:
    """For languages that count elements in 32 bits."""
    elements = max((prod(source.shape or ()) for source in graph.sources), default=0)
    if elements > MOST:
        what = f"the reference has a tensor of {elements:,} elements; the built-in synthesiser counts up to 2^31 - 1."
        raise CannotWriteError(what, FIX)


def refuse_far(program: Program) -> None:
    """For languages that count elements in 64 bits where need be: places that are themselves values stay below."""
    for statement in program.statements:
        for part in (part for expression in expressions(statement) for part in walk(expression)):
            if isinstance(part, Place) and max(map(abs, part.layout.ends)) > MOST:
                what = "the reference computes with places beyond 2^31 - 1; the built-in synthesiser counts up to that."
                raise CannotWriteError(what, FIX)
