"""A reference and a case from a plain function and one example of its arguments.

The text that a function needs to stand alone is gathered in `_gather.py`. What example tensors look like is told
by `_example.py`. Imports torch, which whoever has example tensors has loaded already.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from types import FunctionType
from typing import Any

import torch

from kernelwright.tasks._case import Case
from kernelwright.tasks._error import TaskError, about, require
from kernelwright.tasks._example import input_like
from kernelwright.tasks._gather import Gathered, plain_function, written
from kernelwright.tasks._reference import Reference

_TAKEN = ("Model", "get_init_inputs", "torch")


def describe_function(function: Callable[..., Any], example: Sequence[Any]) -> tuple[str, Case]:
    """The text of a reference that calls the function, and the case that the example describes."""
    plain = plain_function(function)
    with about(f"function {plain.__name__!r}"):
        require(plain.__name__ not in _TAKEN, "its name is taken in a task.", "Rename it.")
        arguments = _named(plain, example)
        gathered = Gathered()
        gathered.add_function(plain)
        source = _source(gathered, plain.__name__, arguments)
        tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
        require(bool(tensors), "the example holds no tensors.", "Pass at least one tensor.")
        inputs = tuple(input_like(name, value) for name, value in tensors.items())
    Reference.parse(source, plain.__name__).require("Model", "get_init_inputs")
    return source, Case("example", inputs=inputs)


def _named(function: FunctionType, example: Sequence[Any]) -> dict[str, Any]:
    """The example's arguments by parameter name, in order."""
    with about("the example does not fit its signature"):
        try:
            inspect.signature(function).bind(*example)
        except TypeError as error:
            raise TaskError(f"{error}.") from error
    return dict(zip(_parameter_names(function), example, strict=False))


def _parameter_names(function: FunctionType) -> Iterator[str]:
    parameters = inspect.signature(function).parameters.values()
    positional = (p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    # A parameter named like the function would hide it inside forward.
    apart = (f"{name}_" if name in (function.__name__, "self") else name for name in positional)
    starred = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "arg")
    return chain(apart, (f"{starred}{index}" for index in count()))


def _source(gathered: Gathered, name: str, arguments: Mapping[str, Any]) -> str:
    tensors = [argument for argument, value in arguments.items() if isinstance(value, torch.Tensor)]
    passed = [_passed(argument, value) for argument, value in arguments.items()]
    return gathered.text() + _MODEL.format(
        parameters=", ".join(["self", *tensors]), name=name, arguments=", ".join(passed)
    )


_MODEL = """

class Model(torch.nn.Module):
    def forward({parameters}):
        return {name}({arguments})


def get_init_inputs():
    return []
"""


def _passed(name: str, value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return name
    text = written(value)
    fix = "Arguments are tensors, or plain values that are frozen as they are."
    require(text is not None, f"argument {name!r} is a {type(value).__name__}, which a task cannot hold.", fix)
    return str(text)
