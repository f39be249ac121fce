"""Constraints: arithmetic and comparisons over the names of parameters and of the machine.

Python's grammar is used and nothing else of it: a text is parsed, every node is one of those below, and what they do
is written here. There are no attributes, no subscripts, no calls but of four functions, and no number grows beyond
bounds.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LONGEST_TEXT = 400
LARGEST = 2**96
LARGEST_EXPONENT = 64

Value = int | float | str
Names = Mapping[str, Value]
Evaluate = Callable[[Names], Value]


class ExpressionError(ValueError):
    """A text that is no expression, or an expression without a value."""


def _cdiv(numerator: float, divisor: float) -> float:
    """How many pieces of one size cover another."""
    return -(-numerator // divisor)


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > LARGEST_EXPONENT:
        raise ExpressionError(f"the exponent {exponent} is larger than {LARGEST_EXPONENT}")
    return base**exponent  # type: ignore[no-any-return]


FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "abs": abs, "cdiv": _cdiv}
ARGUMENTS = {"min": range(1, 9), "max": range(1, 9), "abs": range(1, 2), "cdiv": range(2, 3)}
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
ORDERED: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EQUAL: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {ast.Eq: operator.eq, ast.NotEq: operator.ne}
TRUTHS = {"true": True, "false": False}
# What C would say, and what is said here.
C_SPELLINGS = {"&&": "and", "||": "or"}


@dataclass(frozen=True)
class Expression:
    """An expression that can be worked out once its names have values."""

    text: str
    names: frozenset[str]
    _evaluate: Evaluate = field(repr=False, compare=False)

    def value(self, names: Names) -> Value:
        """Raises ExpressionError where there is none: a division by zero, a word where a number belongs."""
        try:
            return self._evaluate(names)
        except ZeroDivisionError as error:
            raise ExpressionError("it divides by zero") from error
        except OverflowError as error:
            raise ExpressionError("it becomes too large a number") from error

    def holds(self, names: Names) -> bool:
        return _truth(self.value(names))


def parse(text: str) -> Expression:
    """Raises ExpressionError where the text is not in this small language."""
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(f"it is {len(text)} characters long, more than {LONGEST_TEXT}")
    for theirs, ours in C_SPELLINGS.items():
        if theirs in text:
            raise ExpressionError(f"{theirs!r} is written {ours!r} here")
    if re.search(r"!(?!=)", text):
        raise ExpressionError("'!' is written 'not' here")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"it cannot be read ({getattr(error, 'msg', error)})") from error
    names: set[str] = set()
    evaluate = _compiled(tree, names)
    return Expression(text.strip(), frozenset(names), evaluate)


def _compiled(node: ast.expr, names: set[str]) -> Evaluate:
    """What works a node out; the names it needs are put into `names`."""
    match node:
        case ast.Constant(value=value):
            return _constant(value)
        case ast.Name(id=name):
            return _name(name, names)
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(op, _compiled(operand, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, _compiled(left, names), _compiled(right, names))
        case ast.BoolOp(op=op, values=parts):
            return _logic(op, [_compiled(part, names) for part in parts])
        case ast.Compare(left=first, ops=ops, comparators=others):
            return _comparison(ops, [_compiled(part, names) for part in (first, *others)])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _choice(*(_compiled(part, names) for part in (test, body, orelse)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, [_compiled(argument, names) for argument in arguments])
    raise ExpressionError(f"{ast.unparse(node)!r} is more than arithmetic and comparisons")


def _constant(value: object) -> Evaluate:
    if not isinstance(value, int | float | str):
        raise ExpressionError(f"{value!r} is neither a number nor a word in quotes")
    kept = value if isinstance(value, str) else _number(value)
    return lambda _: kept


def _name(name: str, names: set[str]) -> Evaluate:
    if name in TRUTHS:
        truth = TRUTHS[name]
        return lambda _: truth
    names.add(name)
    return lambda known: known[name]


def _unary(op: ast.unaryop, operand: Evaluate) -> Evaluate:
    if isinstance(op, ast.Not):
        return lambda names: not _truth(operand(names))
    if isinstance(op, ast.USub):
        return lambda names: -_number(operand(names))
    if isinstance(op, ast.UAdd):
        return lambda names: +_number(operand(names))
    raise ExpressionError("'~' is not known here")


def _arithmetic(op: ast.operator, left: Evaluate, right: Evaluate) -> Evaluate:
    if type(op) not in ARITHMETIC:
        raise ExpressionError(f"only + - * / // % ** are known, not {type(op).__name__}")
    apply = ARITHMETIC[type(op)]
    return lambda names: _number(apply(_number(left(names)), _number(right(names))))


def _logic(op: ast.boolop, parts: list[Evaluate]) -> Evaluate:
    if isinstance(op, ast.And):
        return lambda names: all(_truth(part(names)) for part in parts)
    return lambda names: any(_truth(part(names)) for part in parts)


def _comparison(ops: list[ast.cmpop], parts: list[Evaluate]) -> Evaluate:
    tests = [_test(op) for op in ops]

    def compare(names: Names) -> bool:
        values = [part(names) for part in parts]
        return all(test(left, right) for test, left, right in zip(tests, values, values[1:], strict=False))

    return compare


def _test(op: ast.cmpop) -> Callable[[Value, Value], bool]:
    if type(op) in EQUAL:
        return EQUAL[type(op)]
    if type(op) not in ORDERED:
        raise ExpressionError("only == != < <= > >= compare here")
    ordered = ORDERED[type(op)]
    return lambda left, right: ordered(_number(left), _number(right))


def _choice(test: Evaluate, body: Evaluate, orelse: Evaluate) -> Evaluate:
    return lambda names: body(names) if _truth(test(names)) else orelse(names)


def _call(name: str, arguments: list[Evaluate]) -> Evaluate:
    if name not in FUNCTIONS:
        raise ExpressionError(f"there is no function {name!r}; known: {', '.join(FUNCTIONS)}")
    if len(arguments) not in ARGUMENTS[name]:
        raise ExpressionError(f"{name} is given {len(arguments)} arguments")
    function = FUNCTIONS[name]
    return lambda names: _number(function(*(_number(argument(names)) for argument in arguments)))


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise ExpressionError(f"{value!r} is not a number")
    if not abs(value) <= LARGEST or math.isnan(value):
        raise ExpressionError("it becomes too large a number")
    return value


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"it comes to {value!r}, which is neither true nor false: compare it with something")
    return value
