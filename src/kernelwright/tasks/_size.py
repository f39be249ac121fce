"""How many bytes the inputs of a case take.

Exact for declared inputs. For `get_inputs` an estimate from the tensor-making calls in its text, since
running it is what the answer may advise against.
"""

import ast
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from kernelwright.tasks._case import Case
from kernelwright.tasks._constants import environment
from kernelwright.tasks._input_spec import DTYPES
from kernelwright.tasks._literals import NotPlainError, fold
from kernelwright.tasks._reference import Reference
from kernelwright.tasks._task import Task

_SHAPE_IS_ALL_ARGUMENTS = {"rand", "randn", "zeros", "ones", "empty"}
_SHAPE_IS_A_TUPLE = {"randint", "full", "normal"}


def case_bytes(reference: Reference, case: Case) -> int | None:
    """Bytes of all inputs; None where the text does not tell."""
    if case.inputs is not None:
        return sum(spec.bytes for spec in case.inputs)
    return estimated_bytes(reference, case.constants)


def estimated_bytes(reference: Reference, overrides: Mapping[str, Any]) -> int | None:
    function = reference.function("get_inputs")
    if function is None:
        return None
    known = _with_locals(function, environment(reference, overrides))
    try:
        return sum(_call_bytes(call, known) for call in _tensor_calls(function)) or None
    except NotPlainError:
        return None


def _with_locals(function: ast.FunctionDef, known: dict[str, Any]) -> dict[str, Any]:
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known |= _folded(name, value, known)
    return known


def _folded(name: str, value: ast.expr, known: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {name: fold(value, known)}
    except NotPlainError:
        return {}


def _tensor_calls(function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr)):
                if attr in _SHAPE_IS_ALL_ARGUMENTS | _SHAPE_IS_A_TUPLE:
                    yield node


def _call_bytes(call: ast.Call, known: Mapping[str, Any]) -> int:
    return prod(_shape(call, known)) * DTYPES.get(_dtype(call), 4)


def _shape(call: ast.Call, known: Mapping[str, Any]) -> tuple[int, ...]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "size"]
    if given:
        return _checked(fold(given[0], known))
    if _maker(call) in _SHAPE_IS_A_TUPLE:
        return _checked(_first_tuple(call.args, known))
    arguments = fold(ast.Tuple(call.args, ast.Load()), known)
    return _checked(arguments[0] if arguments and isinstance(arguments[0], tuple | list) else arguments)


def _first_tuple(nodes: list[ast.expr], known: Mapping[str, Any]) -> Any:
    """The shape among arguments whose bounds need not be known."""
    folded = (_folded("", node, known).get("") for node in nodes)
    return next((value for value in folded if isinstance(value, tuple | list)), None)


def _checked(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, tuple | list) or not all(isinstance(size, int) for size in shape):
        raise NotPlainError(f"{shape!r} is no shape")
    return tuple(shape)


def _maker(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _dtype(call: ast.Call) -> str:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    if named and isinstance(named[0], ast.Attribute):
        return named[0].attr
    return "int64" if _maker(call) == "randint" else "float32"


def input_bytes(task: Task) -> int | None:
    """Bytes of the largest case's inputs, told without running anything; None where the text does not tell."""
    reference = Reference.parse(task.source, task.origin or task.name)
    known = [case_bytes(reference, case) for case in task.cases]
    return max((size for size in known if size is not None), default=None)
