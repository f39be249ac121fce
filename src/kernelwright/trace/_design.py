"""How a module of a running program was built, as text that stands alone.

The arguments a module was built with are noted by `remembering` while the program runs; classes and functions
are taken along by their text. Whether what the text builds is what the program runs is found out in `_rebuilt.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import tokenize
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from kernelwright.tasks import Gathered, TaskError, written
from kernelwright.trace._call import Passing
from kernelwright.trace._text import MODEL, USERS_MODEL, title

BUILT = "_kernelwright_built"
NAMESPACES = {types.SimpleNamespace: "import types", argparse.Namespace: "import argparse"}


@contextmanager
def remembering() -> Iterator[None]:
    """Modules that are built meanwhile know what they were built with; copies of them do too."""

    def new(owner: type[torch.nn.Module], *args: Any, **kwargs: Any) -> torch.nn.Module:
        module = object.__new__(owner)
        module.__dict__[BUILT] = (args, kwargs)
        return module

    torch.nn.Module.__new__ = new  # type: ignore[assignment]
    try:
        yield
    finally:
        # Deleted, it would leave behind a class that takes no arguments any more.
        torch.nn.Module.__new__ = _new  # type: ignore[assignment]


def _new(owner: type[torch.nn.Module], *args: Any, **kwargs: Any) -> torch.nn.Module:
    return object.__new__(owner)


@dataclass(frozen=True)
class Design:
    """A module's kind: two modules of the same design differ in the values of their weights alone.

    Attributes:
        name: Of its class.
        definitions: What the class needs, the class included.
        base: How the definitions call the class.
        arguments: What it is built with, as text.
        dtype: What its weights were cast to after it was built; empty where they are float32.
        training: Whether it was in train mode.
    """

    name: str
    definitions: str
    base: str
    arguments: str
    dtype: str
    training: bool

    @property
    def label(self) -> str:
        return f"{self.name}({self.arguments})"

    def reference(self, passed: Passing, script: str) -> str:
        """The text of a reference.py."""
        model = _MODEL.format(base=self.base, arguments=self.arguments)
        return title(self.name, script) + self.definitions + model + self._rest(passed)

    def _rest(self, passed: Passing) -> str:
        cast = f"        self.to({self.dtype})\n" if self.dtype else ""
        if passed.direct:
            return cast
        return cast + _FORWARD.format(parameters=", ".join(["self", *passed.names]), arguments=passed.text)


_MODEL = """

class Model({base}):
    def __init__(self):
        super().__init__({arguments})
"""

_FORWARD = """
    def forward({parameters}):
        return super().forward({arguments})
"""


def design_of(module: torch.nn.Module) -> Design:
    """Raises TaskError where the module cannot be written down."""
    gathered = Gathered()
    base = _class_name(type(module), gathered)
    arguments = _arguments(module, gathered)
    dtype = _cast_dtype(module)
    # Renamed last: texts of several classes may name it.
    definitions, base, arguments = (_renamed(text) for text in (gathered.text(), base, arguments))
    return Design(type(module).__name__, definitions, base, arguments, dtype, module.training)


def _class_name(owner: type, gathered: Gathered) -> str:
    if getattr(torch.nn, owner.__name__, None) is owner:
        return f"torch.nn.{owner.__name__}"
    gathered.add(owner.__name__, owner, "the program")
    return owner.__name__


def _arguments(module: torch.nn.Module, gathered: Gathered) -> str:
    args, kwargs = module.__dict__.get(BUILT, ((), {}))
    named = (f"{name}={_expression(value, gathered)}" for name, value in kwargs.items())
    return ", ".join([*(_expression(value, gathered) for value in args), *named])


def _expression(value: Any, gathered: Gathered) -> str:
    """Text that makes the value again."""
    if isinstance(value, torch.nn.Module):
        return f"{_class_name(type(value), gathered)}({_arguments(value, gathered)})"
    text = written(value)
    if text is not None:
        return text
    if isinstance(value, torch.device):
        return 'torch.device("cpu")'
    return _composed(value, gathered)


def _composed(value: Any, gathered: Gathered) -> str:
    if isinstance(value, list | tuple):
        inside = "".join(f"{_expression(item, gathered)}, " for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_expression(item, gathered)}" for key, item in value.items()) + "}"
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        gathered.add(value.__name__, value, "the program")
        return value.__name__
    return _object(value, gathered)


def _object(value: Any, gathered: Gathered) -> str:
    """A bundle of settings: a dataclass, or one of the two namespaces everybody uses."""
    owner = type(value)
    if owner in NAMESPACES:
        gathered.imports[owner.__module__] = NAMESPACES[owner]
        return f"{owner.__module__}.{owner.__name__}({_named(vars(value), gathered)})"
    if dataclasses.is_dataclass(value):
        given = {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
        return f"{_class_name(owner, gathered)}({_named(given, gathered)})"
    raise TaskError(f"it is built with a {owner.__name__}, which a task cannot hold.")


def _named(values: Mapping[str, Any], gathered: Gathered) -> str:
    return ", ".join(f"{name}={_expression(value, gathered)}" for name, value in values.items())


def _cast_dtype(module: torch.nn.Module) -> str:
    state = [*module.parameters(), *module.buffers()]
    dtypes = {tensor.dtype for tensor in state if tensor.is_floating_point()}
    return repr(dtypes.pop()) if len(dtypes) == 1 and torch.float32 not in dtypes else ""


def _renamed(text: str) -> str:
    """The text with a class of the user's that is called like the task's own under another name."""
    if MODEL not in text:
        return text
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    for before, token in reversed(list(zip([None, *tokens], tokens, strict=False))):
        if token.type == tokenize.NAME and token.string == MODEL and (before is None or before.string != "."):
            row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = lines[row][:start] + USERS_MODEL + lines[row][end:]
    return "".join(lines)
