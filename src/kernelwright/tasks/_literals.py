"""Plain Python values in text: reading them, computing with them, writing them back.

Knows literals, arithmetic on numbers and names whose values are given. Runs nothing.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST_EXPONENT = 64
_LONGEST_SEQUENCE = 4096


class NotPlainError(ValueError):
    """The expression is more than a plain value."""


class UnknownNameError(NotPlainError):
    """The expression reads a name that has no value here."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} has no value here")
        self.name = name


def parse(text: str, mode: str = "exec") -> Any:
    """`ast.parse` that keeps warnings about someone else's escape sequences to itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)


def evaluate(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The plain value of an expression such as `4096`, `"relu"`, `(3, 3)` or `2 * rows`."""
    try:
        expression = parse(text.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPlainError(f"{text!r} is not a plain value") from error
    return fold(expression, names or {})


def fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a syntax node, or NotPlainError."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return node.value
        case ast.Name(id=name):
            return _lookup(name, names)
        case ast.Tuple(elts=elements):
            return tuple(_fold_elements(elements, names))
        case ast.List(elts=elements):
            return _fold_elements(elements, names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _signed(node.op, fold(operand, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _compute(op, fold(left, names), fold(right, names))
    raise NotPlainError(f"{ast.unparse(node)!r} is not a plain value")


def _lookup(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise UnknownNameError(name)
    return names[name]


def _fold_elements(elements: list[ast.expr], names: Mapping[str, Any]) -> list[Any]:
    folded: list[Any] = []
    for element in elements:
        if isinstance(element, ast.Starred):
            folded.extend(_sequence(fold(element.value, names)))
        else:
            folded.append(fold(element, names))
    return folded


def _sequence(value: Any) -> list[Any]:
    if not isinstance(value, tuple | list):
        raise NotPlainError(f"{value!r} cannot be unpacked")
    return list(value)


def _signed(op: ast.unaryop, value: Any) -> Any:
    if not is_number(value):
        raise NotPlainError(f"{value!r} has no sign")
    return -value if isinstance(op, ast.USub) else value


def _compute(op: ast.operator, left: Any, right: Any) -> Any:
    if type(op) not in _ARITHMETIC or not _computable(op, left, right):
        raise NotPlainError("the expression is more than arithmetic on plain numbers")
    try:
        return _ARITHMETIC[type(op)](left, right)
    except (ArithmeticError, TypeError) as error:
        raise NotPlainError(f"the expression has no value: {error}") from error


def _computable(op: ast.operator, left: Any, right: Any) -> bool:
    if is_number(left) and is_number(right):
        return not isinstance(op, ast.Pow) or abs(right) <= _LARGEST_EXPONENT
    if isinstance(op, ast.Mult) and isinstance(left, tuple | list) and is_integer(right):
        return bool(len(left) * right <= _LONGEST_SEQUENCE)
    return isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, tuple | list)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_plain(value: Any) -> bool:
    """Whether `literal_text` can write the value down."""
    if isinstance(value, tuple | list):
        return all(is_plain(element) for element in value)
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(element) for key, element in value.items())
    return value is None or type(value) in (bool, int, float, str)


def literal_text(value: Any) -> str:
    """Python text that evaluates to the value; unlike `repr` also for infinities inside containers."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, tuple):
        inside = ", ".join(map(literal_text, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal_text(k)}: {literal_text(v)}" for k, v in value.items()) + "}"
    return repr(value)
