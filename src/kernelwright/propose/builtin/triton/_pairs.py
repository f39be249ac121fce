"""Reductions that need each other, and can be found in one pass all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.propose.builtin._kernels import Kernel, Part
from kernelwright.propose.builtin._loops import Access, Apply, Buffer, Expression, Number, Place, Reduce

SOFTMAX, VARIANCE, PLACE = "softmax", "variance", "place"


@dataclass(frozen=True)
class Pair:
    """A reduction and a later one that reads its result.

    `value`: what both go over. `place`: of a place, its number. `endless`: of a sum of exponentials, what it is below
    an infinite maximum.
    """

    kind: str
    first: Buffer
    second: Buffer
    value: Expression
    place: Place | None = None
    endless: float = float("nan")


def pairs(found: Sequence[Reduce] | Sequence[Part]) -> dict[Buffer, Pair]:
    """By the later reduction. None has a part in two."""
    earlier: dict[Buffer, Any] = {}
    made: dict[Buffer, Pair] = {}
    for one in found:
        pair = _pair(one.into, one.how, one.expression, earlier) if one.how else None
        if pair and pair.first not in {other.first for other in made.values()}:
            made[one.into] = pair
        elif one.how:
            earlier[one.into] = one
    return made


def of_kernel(kernel: Kernel, in_memory: set[Buffer]) -> dict[Buffer, Pair]:
    """A maximum that others read is left alone: below all numbers there is none smaller to begin with."""
    found = pairs(kernel.parts)
    return {second: pair for second, pair in found.items() if pair.kind != SOFTMAX or pair.first not in in_memory}


def _pair(into: Buffer, how: str | None, expression: Expression, earlier: Mapping[Buffer, Any]) -> Pair | None:
    found = _named(into, how, expression)
    if found is None or found.first not in earlier:
        return None
    first = earlier[found.first]
    wanted = {SOFTMAX: ("max",), VARIANCE: ("sum",), PLACE: ("max", "min")}[found.kind]
    return found if first.how in wanted and first.expression == found.value else None


def _named(into: Buffer, how: str | None, expression: Expression) -> Pair | None:
    match expression:
        case Apply("exp", (Apply("sub", (value, Access(buffer=top))),)) if how == "sum":
            return Pair(SOFTMAX, top, into, value)
        case Apply("exp", (Apply("sub", (value, Apply("where", (_, Number(0.0), Access(buffer=top))))),)) if (
            how == "sum"
        ):
            return Pair(SOFTMAX, top, into, value, endless=float("inf"))
        case Apply("mul", (Apply("sub", (value, Apply("div", (Access(buffer=total), Number())))) as one, other)) if (
            how == "sum" and one == other
        ):
            return Pair(VARIANCE, total, into, value)
        case Apply(
            "where", (Apply("or", (Apply("eq", (value, Access(buffer=top))), _)), Apply(_, (Place() as at,)), Number())
        ) if how == "min":
            return Pair(PLACE, top, into, value, place=at)
    return None
