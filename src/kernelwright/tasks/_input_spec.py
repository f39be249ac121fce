"""One declared input: shape, dtype, how its contents are drawn, how it lies in memory.

Knows what can be declared. Does not know torch: dtypes are names here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from kernelwright.tasks._error import TaskError, about, check_choice, choose_among, require
from kernelwright.tasks._literals import NotPlainError, UnknownNameError, evaluate, is_integer
from kernelwright.tasks._values import check_values_fit, parse_values
from kernelwright.tasks._wire import plain_fields

# Name of each dtype, and the bytes of one element.
DTYPES: Mapping[str, int] = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
LAYOUTS = ("contiguous", "transposed", "strided", "offset")
_FEWEST_DIMENSIONS = {"contiguous": 0, "transposed": 2, "strided": 1, "offset": 0}


@dataclass(frozen=True)
class InputSpec:
    """A tensor that the judge draws.

    Attributes:
        name: What messages call it; its position is its place in the case.
        shape: Sizes; `()` is a tensor of no dimensions.
        dtype: A name in `DTYPES`.
        values: A draw such as `normal`, `uniform(0, 1)` or `integers(0, 1000)`.
        layout: `contiguous`, `transposed` (last two dimensions swapped in memory), `strided` (every second
            element of a larger buffer) or `offset` (starts one element into its storage).
        shape_formula: The shape as written over the dims of the case, such as `("rows", "2 * cols")`; empty
            where the shape is fixed.
        values_formula: The draw as written over the dims, such as `integers(0, rows)`; empty where fixed.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    values: str = "normal"
    layout: str = "contiguous"
    shape_formula: tuple[str, ...] = ()
    values_formula: str = ""

    def __post_init__(self) -> None:
        with about(f"input {self.name!r}"):
            self._check()

    def _check(self) -> None:
        check_choice("dtype", self.dtype, DTYPES)
        check_choice("layout", self.layout, LAYOUTS)
        require(
            all(is_integer(size) and size >= 0 for size in self.shape),
            f"shape {list(self.shape)} must consist of integers that are not negative.",
        )
        fewest = _FEWEST_DIMENSIONS[self.layout]
        require(len(self.shape) >= fewest, f"layout {self.layout!r} needs at least {fewest} dimensions.")
        check_values_fit(parse_values(self.values), self.dtype, self.shape)

    @classmethod
    def declared(
        cls,
        name: str,
        shape: Sequence[int | str],
        dtype: str,
        *,
        values: str = "normal",
        layout: str = "contiguous",
        dims: Mapping[str, int | float],
    ) -> "InputSpec":
        """An input whose shape and draw may name dims; it can be evaluated again at other dims."""
        formula = tuple(map(str, shape)) if any(isinstance(size, str) for size in shape) else ()
        with about(f"input {name!r}"):
            sizes = _sizes(formula, dims) if formula else tuple(int(size) for size in shape)
            drawn = str(parse_values(values, dims))
        return cls(name, sizes, dtype, drawn, layout, formula, values if drawn != values else "")

    def at(self, dims: Mapping[str, int | float]) -> "InputSpec":
        """The same input at other dims."""
        with about(f"input {self.name!r}"):
            shape = _sizes(self.shape_formula, dims) if self.shape_formula else self.shape
            values = str(parse_values(self.values_formula, dims)) if self.values_formula else self.values
        return replace(self, shape=shape, values=values)

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPES[self.dtype]

    def to_wire(self) -> dict[str, Any]:
        return plain_fields(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "InputSpec":
        tuples = {"shape": tuple(wire["shape"]), "shape_formula": tuple(wire.get("shape_formula", ()))}
        return cls(**{**wire, **tuples})


def _sizes(formula: tuple[str, ...], dims: Mapping[str, int | float]) -> tuple[int, ...]:
    return tuple(_size(text, dims) for text in formula)


def _size(text: str, dims: Mapping[str, int | float]) -> int:
    try:
        size = evaluate(text, dims)
    except UnknownNameError as error:
        fix = choose_among(error.name, dims, none="The case declares no dims.")
        raise TaskError(f"shape entry {text!r} names {error.name!r}, which is no dim.", fix=fix) from error
    except NotPlainError as error:
        fix = "Write a number, a dim, or arithmetic on dims."
        raise TaskError(f"shape entry {text!r} cannot be read.", fix=fix) from error
    require(is_integer(size), f"shape entry {text!r} is {size!r}, not an integer.")
    return int(size)
