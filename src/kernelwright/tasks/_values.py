"""The small language in which a task says how an input is drawn: `normal`, `integers(0, classes)`, ...

Knows which draws exist, which arguments make sense and which dtypes can hold the result.
Draws nothing itself.
"""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelwright.tasks._error import TaskError, choose_among, require
from kernelwright.tasks._literals import (
    NotPlainError,
    UnknownNameError,
    fold,
    is_integer,
    is_number,
    literal_text,
    parse,
)


@dataclass(frozen=True)
class Values:
    """One parsed draw: `uniform(0, 1)` is `Values("uniform", (0, 1))`."""

    kind: str
    arguments: tuple[int | float, ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(map(literal_text, self.arguments))
        return f"{self.kind}({inside})" if self.arguments else self.kind


@dataclass(frozen=True)
class _Rule:
    parameters: tuple[str, ...] = ()
    holds: Callable[..., bool] = lambda *_: True
    otherwise: str = ""
    bare: bool = False

    @property
    def usage(self) -> str:
        return f"({', '.join(self.parameters)})" if self.parameters else ""


# torch draws integers through 64-bit bounds, whatever the dtype.
_INT64_BOUND = 2**63

_RULES = {
    "normal": _Rule(("mean", "std"), lambda _, std: std >= 0, "std must not be negative", bare=True),
    "uniform": _Rule(("lo", "hi"), lambda lo, hi: lo <= hi, "lo must not exceed hi"),
    "lognormal": _Rule(("sigma",), lambda sigma: sigma >= 0, "sigma must not be negative"),
    "pareto": _Rule(("alpha",), lambda alpha: alpha > 0, "alpha must be positive"),
    "integers": _Rule(
        ("lo", "hi"),
        lambda lo, hi: is_integer(lo) and is_integer(hi) and -_INT64_BOUND <= lo < hi < _INT64_BOUND,
        "lo and hi must be 64-bit integers with lo below hi (hi is exclusive)",
    ),
    "bernoulli": _Rule(("p",), lambda p: 0 <= p <= 1, "p must lie between 0 and 1"),
    "zeros": _Rule(),
    "ones": _Rule(),
    "constant": _Rule(("c",)),
    "permutation": _Rule(),
}
_FOR_BOOL = ("bernoulli", "zeros", "ones")
_FOR_INTEGERS = ("integers", "permutation", "zeros", "ones", "constant", "bernoulli")
_BOUNDS = {
    "int64": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int8": (-128, 127),
    "uint8": (0, 255),
}


def parse_values(text: str, dims: Mapping[str, int | float] | None = None) -> Values:
    """Reads a draw; its arguments may name dims."""
    kind, nodes = _split(text)
    if kind not in _RULES:
        raise TaskError(f"values = {text!r} is not a known draw.", fix=choose_among(kind, _RULES))
    values = Values(kind, tuple(_argument(node, text, dims or {}) for node in nodes))
    _check_arguments(values, text)
    return values


def _split(text: str) -> tuple[str, list[ast.expr]]:
    try:
        expression = parse(text.strip(), "eval").body
    except (SyntaxError, ValueError) as error:
        raise _unreadable(text) from error
    match expression:
        case ast.Name(id=kind):
            return kind, []
        case ast.Call(func=ast.Name(id=kind), args=nodes, keywords=[]):
            return kind, nodes
    raise _unreadable(text)


def _unreadable(text: str) -> TaskError:
    usages = ", ".join(kind + rule.usage for kind, rule in _RULES.items())
    return TaskError(f"values = {text!r} cannot be read.", fix=f"Write one of: {usages}.")


def _argument(node: ast.expr, text: str, dims: Mapping[str, int | float]) -> int | float:
    try:
        value = fold(node, dims)
    except UnknownNameError as error:
        fix = choose_among(error.name, dims, none="The case declares no dims.")
        raise TaskError(f"values = {text!r} names {error.name!r}, which is no dim.", fix=fix) from error
    except NotPlainError as error:
        raise _unreadable(text) from error
    if not is_number(value) or not math.isfinite(value):
        raise TaskError(f"values = {text!r} has an argument that is not a finite number.")
    return value  # type: ignore[no-any-return]


def _check_arguments(values: Values, text: str) -> None:
    rule, given = _RULES[values.kind], len(values.arguments)
    if given == 0 and (rule.bare or not rule.parameters):
        return
    require(
        given == len(rule.parameters),
        f"values = {text!r} has {given} arguments.",
        f"Write {values.kind}{rule.usage}.",
    )
    require(rule.holds(*values.arguments), f"values = {text!r} cannot be drawn: {rule.otherwise}.")


def check_values_fit(values: Values, dtype: str, shape: tuple[int, ...]) -> None:
    """Stops a draw that the dtype or the shape cannot hold."""
    if dtype == "bool":
        _check_kind(values, dtype, _FOR_BOOL)
    if dtype in _BOUNDS:
        _check_kind(values, dtype, _FOR_INTEGERS)
        _check_bounds(values, dtype, shape)
    require(
        values.kind != "permutation" or bool(shape),
        "it has no dimensions, so there is nothing to permute.",
    )


def _check_kind(values: Values, dtype: str, allowed: tuple[str, ...]) -> None:
    usages = ", ".join(kind + _RULES[kind].usage for kind in allowed)
    require(values.kind in allowed, f"a {dtype} input cannot be drawn as {str(values)!r}.", f"Use {usages}.")


def _check_bounds(values: Values, dtype: str, shape: tuple[int, ...]) -> None:
    low, high = _BOUNDS[dtype]
    fits = all(low <= value <= high and value == int(value) for value in _extremes(values, shape))
    require(fits, f"{str(values)!r} does not fit {dtype}, which holds integers from {low} to {high}.")


def _extremes(values: Values, shape: tuple[int, ...]) -> tuple[int | float, ...]:
    match values:
        case Values("integers", (lo, hi)):
            return (lo, hi - 1)
        case Values("constant", (c,)):
            return (c,)
        case Values("permutation"):
            return (shape[-1] - 1,) if shape and shape[-1] else ()
    return ()
