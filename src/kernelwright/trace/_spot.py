"""Where a program spends its time, and what a kernel there could gain: Amdahl's law under a measured roof.

A kernel is taken to move bytes at half of the machine's best speed, to do operations at four fifths of it and to cost
ten microseconds to call; where bytes and operations could not be counted, to be half as fast again. Nothing is claimed
by this: it says where to look first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kernelwright.tasks import InputSpec

BYTES_REACHED, OPERATIONS_REACHED, CALL_SECONDS = 0.5, 0.8, 1e-5
GUESS = 1.5
# A kernel is no model: with more operators a call than this a module is listed, and its parts are written.
MOST_OPERATORS = 12


class Roof(Protocol):
    """The machine's ceilings."""

    def bytes_seconds(self, moved: float) -> float:
        """The least seconds in which so many bytes can be moved."""

    def operations_seconds(self, operations: float) -> float:
        """The least seconds in which so many operations can be done."""


@dataclass(frozen=True)
class Shape:
    """Calls with tensors of the same shapes."""

    inputs: tuple[InputSpec, ...]
    calls: int
    seconds: float
    own_seconds: float
    operations: float | None
    matrix: float | None
    bytes: int | None
    operators: int | None

    @property
    def title(self) -> str:
        """`8x128x256` or `8x128x256,128x128`"""
        return ",".join("x".join(map(str, spec.shape)) or "scalar" for spec in self.inputs) or "no tensors"

    def plausible_seconds(self, roof: Roof) -> float:
        """What all these calls could take, never more than they do."""
        if self.operations is None or self.bytes is None:
            return self.seconds / GUESS
        moving = roof.bytes_seconds(self.bytes) / BYTES_REACHED
        working = roof.operations_seconds(self.operations) / OPERATIONS_REACHED
        return min(self.seconds, self.calls * (CALL_SECONDS + max(moving, working)))


@dataclass(frozen=True)
class Spot:
    """Modules of one design, called in one way.

    Attributes:
        label: Class and constructor arguments.
        source: The text of a reference; empty where none can be written.
        why_not: Why it cannot become a task; empty where it can.
    """

    name: str
    label: str
    source: str
    mode: str
    why_not: str
    paths: tuple[str, ...]
    inside: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @property
    def calls(self) -> int:
        return sum(shape.calls for shape in self.shapes)

    @property
    def seconds(self) -> float:
        return sum(shape.seconds for shape in self.shapes)

    @property
    def own_seconds(self) -> float:
        return sum(shape.own_seconds for shape in self.shapes)

    @property
    def operators(self) -> int | None:
        return max((shape.operators for shape in self.shapes if shape.operators is not None), default=None)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Spot:
        tuples = {"paths": tuple(told["paths"]), "inside": tuple(told["inside"])}
        return cls(**{**told, **tuples, "shapes": tuple(map(_shape, told["shapes"]))})


def _shape(told: Mapping[str, Any]) -> Shape:
    cost = told["cost"] or dict.fromkeys(("operations", "matrix", "bytes", "operators"))
    inputs = tuple(map(InputSpec.from_wire, told["inputs"]))
    return Shape(inputs, told["calls"], told["seconds"], told["own_seconds"], **cost)


@dataclass(frozen=True)
class Ranked:
    """A spot, its share of the program's time, and what a kernel there could make of it.

    Attributes:
        speedup: Of the spot, as far as is plausible.
        gain: Of the whole program: its time now over its time then, less one.
        why_not: Why it becomes no task; empty where it does.
    """

    spot: Spot
    share: float
    speedup: float
    gain: float
    why_not: str


def rank(spots: Iterable[Spot], program_seconds: float, roof: Roof) -> list[Ranked]:
    """The largest gain first."""
    return sorted((_ranked(spot, program_seconds, roof) for spot in spots), key=lambda one: -one.gain)


def _ranked(spot: Spot, program_seconds: float, roof: Roof) -> Ranked:
    then = sum(shape.plausible_seconds(roof) for shape in spot.shapes)
    share = min(1.0, spot.seconds / program_seconds)
    speedup = spot.seconds / then if then else 1.0
    return Ranked(spot, share, speedup, 1 / (1 - share * (1 - 1 / speedup)) - 1, _why_not(spot))


def _why_not(spot: Spot) -> str:
    if not spot.why_not and (spot.operators or 0) > MOST_OPERATORS:
        return f"{spot.operators} operators a call are no kernel: see its parts"
    return spot.why_not
