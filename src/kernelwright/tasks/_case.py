"""One case of a task: the inputs to judge on, and how much they matter.

Knows the names of the value families. What each family does to drawn values is the judge's to know.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwright.tasks._error import about, check_choice, require
from kernelwright.tasks._input_spec import InputSpec
from kernelwright.tasks._wire import plain_fields

DEFAULT_FAMILIES = ("given", "heavy", "spikes", "large", "small", "shifted", "below", "ends", "mixed", "plateau")
FAMILIES = (*DEFAULT_FAMILIES, "constant", "sorted")


@dataclass(frozen=True)
class Case:
    """Inputs of one kind.

    Attributes:
        name: Unique within the task.
        weight: Importance beside the other cases.
        inputs: Declared inputs in the order of `forward`; None: what the reference's `get_inputs` returns.
        constants: Without declared inputs: values that module globals take before `get_inputs` is called.
            With them: the dims that their shapes were computed from.
        families: Which value families the judge applies on top of the drawn floats.
    """

    name: str
    weight: float = 1.0
    inputs: tuple[InputSpec, ...] | None = None
    constants: Mapping[str, int | float] = field(default_factory=dict, hash=False)
    families: tuple[str, ...] = DEFAULT_FAMILIES

    def __post_init__(self) -> None:
        with about(f"case {self.name!r}"):
            self._check()

    def _check(self) -> None:
        require(bool(self.name), "it has no name.")
        require(self.weight > 0 and math.isfinite(self.weight), f"weight {self.weight} is not positive.")
        require(bool(self.families), "it names no value families.", 'Name at least "given".')
        for family in self.families:
            check_choice("family", family, FAMILIES)

    def at(self, constants: Mapping[str, int | float]) -> "Case":
        """The same case with some constants changed, and every input that depends on them."""
        merged = {**self.constants, **constants}
        with about(f"case {self.name!r}"):
            inputs = None if self.inputs is None else tuple(spec.at(merged) for spec in self.inputs)
        return replace(self, inputs=inputs, constants=merged)

    def to_wire(self) -> dict[str, Any]:
        return {**plain_fields(self), "weight": float(self.weight)}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "Case":
        declared = wire.get("inputs")
        inputs = None if declared is None else tuple(map(InputSpec.from_wire, declared))
        families = tuple(wire.get("families", DEFAULT_FAMILIES))
        return cls(**{**wire, "inputs": inputs, "families": families})
