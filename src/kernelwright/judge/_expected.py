"""What the reference says about one set of inputs, and how far a result may be from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernelwright.judge._channel import Message
from kernelwright.judge._compare import EXACT, ROUNDOFF, Deviation, Yardstick, allowed
from kernelwright.judge._memory import Array, Leaf, Packed, as_float
from kernelwright.judge._tree import Tree
from kernelwright.tasks import Case


@dataclass(frozen=True, eq=False)
class Form:
    """How one output tensor of the reference is made."""

    dtype: str
    shape: list[int]
    dense: bool
    contiguous: bool
    aliases_input: bool


@dataclass(frozen=True, eq=False)
class Output(Form):
    """One output tensor: its form, the oracle's values, the reference's own."""

    oracle: Yardstick
    plain: Array
    reduction: float
    precision: str

    @cached_property
    def own(self) -> Deviation:
        """How far the reference itself, in the task's precision, is from the oracle."""
        return self.oracle.measure(self.plain)

    @cached_property
    def budget(self) -> Deviation:
        if self.oracle.exact:
            return EXACT
        return allowed(self.own, self.dtype, self.reduction, self.precision)

    @cached_property
    def sound(self) -> bool:
        """Whether the reference can compute this at all in its precision: finite where the oracle is."""
        if self.oracle.exact:
            return True
        plain, wide = as_float(self.plain, self.dtype), self.oracle.values
        return bool(np.array_equal(np.isfinite(plain), np.isfinite(wide)) and not np.isnan(plain).any())

    def forgives(self, values: Array, sway: Array) -> bool:
        """Whether a result is right once every element gets the room that its own condition asks for.

        `sway` is how far each element moves when the inputs move by a rounding error; a sum of as many terms as feed
        an output makes that many such errors, of either sign.
        """
        if not self.is_float or len(values) != len(sway):
            return False
        stick = Yardstick(self.oracle.values, "float64")
        return stick.measure(self.oracle.pardoned(values, sway * math.sqrt(self.reduction))).within(self.budget)

    @property
    def is_float(self) -> bool:
        return self.dtype in ROUNDOFF


@dataclass(frozen=True, eq=False)
class Expected:
    tree: Tree
    outputs: list[Output]

    @classmethod
    def from_message(cls, message: Message, packed: Packed, reduction: float, precision: str) -> Expected:
        total = len(message["leaves"]) // 2
        outputs = []
        for index in range(total):
            leaf: Leaf = message["leaves"][total + index]
            outputs.append(
                Output(
                    dtype=leaf["dtype"],
                    shape=leaf["shape"],
                    dense=message["dense"][index],
                    contiguous=message["contiguous"][index],
                    aliases_input=message["aliases"][index],
                    oracle=Yardstick(packed.values(index), leaf["dtype"]),
                    plain=packed.values(total + index),
                    reduction=reduction,
                    precision=precision,
                )
            )
        return cls(message["tree"], outputs)

    @property
    def sound(self) -> bool:
        return all(output.sound for output in self.outputs)


@dataclass(frozen=True, eq=False)
class Trial:
    """One set of inputs to judge on, with what is right for it."""

    case: Case
    family: str
    seed: int
    inputs: Packed
    expected: Expected

    @property
    def label(self) -> str:
        return f"{self.case.name}/{self.family}"
