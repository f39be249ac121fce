"""A reference and a case from a plain function and one example of its arguments.

Knows how to gather the text that a function needs to stand alone. What example tensors look like is told
by `_example.py`. Imports torch, which whoever has example tensors has loaded already.
"""

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import torch

from kernelwright.tasks._case import Case
from kernelwright.tasks._error import TaskError, about, require
from kernelwright.tasks._example import input_like
from kernelwright.tasks._literals import is_plain, literal_text, parse
from kernelwright.tasks._reads import Reads
from kernelwright.tasks._reference import Reference

_INSTALLED = {"torch", "numpy", *sys.stdlib_module_names}
_HOMES = ("torch", "torch.nn.functional", "math")
_TAKEN = ("Model", "get_init_inputs", "torch")


def describe_function(function: Callable[..., Any], example: Sequence[Any]) -> tuple[str, Case]:
    """The text of a reference that calls the function, and the case that the example describes."""
    plain = _plain_function(function)
    with about(f"function {plain.__name__!r}"):
        require(plain.__name__ not in _TAKEN, "its name is taken in a task.", "Rename it.")
        arguments = _named(plain, example)
        gathered = _Gathered()
        gathered.add_function(plain)
        source = _source(gathered, plain.__name__, arguments)
        tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
        require(bool(tensors), "the example holds no tensors.", "Pass at least one tensor.")
        inputs = tuple(input_like(name, value) for name, value in tensors.items())
    Reference.parse(source, plain.__name__).require("Model", "get_init_inputs")
    return source, Case("example", inputs=inputs)


def _plain_function(function: Callable[..., Any]) -> FunctionType:
    """The function under its decorators."""
    plain = _undecorated(function)
    name = getattr(plain, "__name__", repr(plain))
    fix = "Pass a function written with def in a file."
    if not inspect.isfunction(plain):
        raise TaskError(f"{name!r} is not a plain Python function.", fix=fix)
    require(name != "<lambda>", "a lambda has no text of its own.", fix)
    return plain


def _undecorated(value: Any) -> Any:
    return inspect.unwrap(value) if callable(value) else value


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


def _source(gathered: "_Gathered", name: str, arguments: Mapping[str, Any]) -> str:
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
    written = _written(value)
    fix = "Arguments are tensors, or plain values that are frozen as they are."
    require(written is not None, f"argument {name!r} is a {_kind(value)}, which a task cannot hold.", fix)
    return str(written)


def _written(value: Any) -> str | None:
    """The value as Python text, if it has one."""
    if isinstance(value, torch.dtype):
        return repr(value)
    return literal_text(value) if is_plain(value) else None


def _same(one: Any, other: Any) -> bool:
    written = _written(one)
    return one is other or (written is not None and written == _written(other))


def _kind(value: Any) -> str:
    return type(value).__name__


@dataclass
class _Gathered:
    """The text a function needs to stand alone, in the order of a file."""

    imports: dict[str, str] = field(default_factory=lambda: {"torch": "import torch"})
    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Any] = field(default_factory=lambda: {"torch": torch})

    def text(self) -> str:
        # Annotations may name things that are not gathered; postponed, they are never evaluated.
        head = ["from __future__ import annotations", "", *sorted(self.imports.values())]
        constants = ["", *self.constants.values()] if self.constants else []
        functions = [line for text in self.functions.values() for line in ("", "", text)]
        return "\n".join([*head, *constants, *functions]) + "\n"

    def add_function(self, function: FunctionType) -> None:
        self.seen[function.__name__] = function
        text = _text_of(function)
        for name, value in _outside(function, text).items():
            self.add(name, value, function.__name__)
        # After what it needs, since default arguments are evaluated in place.
        self.functions[function.__name__] = text

    def add(self, name: str, value: Any, reader: str) -> None:
        plain = _undecorated(value)
        if name in self.seen:
            what = f"two different things are called {name!r} in what {reader!r} needs."
            require(_same(self.seen[name], plain), what, "Rename one of them.")
            return
        self.seen[name] = plain
        self._add_new(name, value, reader)

    def _add_new(self, name: str, value: Any, reader: str) -> None:
        statement = _import_statement(name, value)
        written = _written(value)
        if statement:
            self.imports[name] = statement
        elif written is not None:
            self.constants[name] = f"{name} = {written}"
        elif inspect.isfunction(_undecorated(value)):
            self._add_needed_function(name, _plain_function(value))
        else:
            fix = f"Pass it to {reader!r} as an argument, or make it a plain constant."
            raise TaskError(f"it reads {name!r}, a {_kind(value)}, which a task cannot hold.", fix=fix)

    def _add_needed_function(self, name: str, function: FunctionType) -> None:
        own_name = function.__name__
        if own_name == name:
            self.add_function(function)
        else:
            self.add(own_name, function, name)
            self.functions[name] = f"{name} = {own_name}"


def _text_of(function: FunctionType) -> str:
    """The definition, dedented and without decorators."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        definition = parse(text).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        fix = "Define it in a file; text typed at a prompt or made by exec cannot be found again."
        raise TaskError(f"the text of {function.__name__!r} cannot be found.", fix=fix) from error
    fix = "Pass a function written with a plain def."
    require(isinstance(definition, ast.FunctionDef), "it is no plain function.", fix)
    return "\n".join(text.splitlines()[definition.lineno - 1 : definition.end_lineno])


def _outside(function: FunctionType, text: str) -> dict[str, Any]:
    """The values of the names that the function reads from outside itself."""
    reads = Reads.of(Reference.parse(text, function.__name__))
    names = sorted(reads.when_called[function.__name__] | reads.import_time())
    known = {**vars(builtins), **function.__globals__, **_enclosed(function)}
    missing = [name for name in names if name not in known]
    require(not missing, f"it reads {', '.join(missing)}, which is not defined.")
    return {name: known[name] for name in names if known[name] is not vars(builtins).get(name)}


def _enclosed(function: FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def _import_statement(name: str, value: Any) -> str | None:
    """How a module, or something that an installed package offers, is imported under this name."""
    if isinstance(value, ModuleType):
        return f"import {name}" if value.__name__ == name else f"import {value.__name__} as {name}"
    if not isinstance(value, type | FunctionType | BuiltinFunctionType):
        return None
    original = value.__name__
    home = next(_homes_of(value, original), None)
    if home is None:
        return None
    return f"from {home} import {original}" + ("" if original == name else f" as {name}")


def _homes_of(value: Any, original: str) -> Iterator[str]:
    """Installed modules that offer the value under its own name."""
    candidates: Iterable[str | None] = (getattr(value, "__module__", None), *_HOMES)
    for module in filter(None, candidates):
        installed = module.split(".")[0] in _INSTALLED and module in sys.modules
        if installed and getattr(sys.modules[module], original, None) is value:
            yield module
