"""The text that functions and classes need to stand alone: their own, what they read, what they import.

Knows how values are written as Python. Imports torch, which whoever has such functions has loaded already.
"""

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import torch

from kernelwright.tasks._error import TaskError, require
from kernelwright.tasks._literals import is_plain, literal_text, parse
from kernelwright.tasks._reads import Reads
from kernelwright.tasks._reference import Reference

_INSTALLED = {"torch", "numpy", *sys.stdlib_module_names} - {"__main__"}
_HOMES = ("torch", "torch.nn", "torch.nn.functional", "math")


def written(value: Any) -> str | None:
    """The value as Python text, if it has one."""
    if isinstance(value, torch.dtype):
        return repr(value)
    return literal_text(value) if is_plain(value) else None


def plain_function(function: Callable[..., Any]) -> FunctionType:
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


def _same(one: Any, other: Any) -> bool:
    text = written(one)
    return one is other or (text is not None and text == written(other))


@dataclass
class Gathered:
    """The text that definitions need to stand alone, in the order of a file."""

    imports: dict[str, str] = field(default_factory=lambda: {"torch": "import torch"})
    constants: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Any] = field(default_factory=lambda: {"torch": torch})

    def text(self) -> str:
        # Annotations may name things that are not gathered; postponed, they are never evaluated.
        head = ["from __future__ import annotations", "", *sorted(self.imports.values())]
        constants = ["", *self.constants.values()] if self.constants else []
        definitions = [line for text in self.definitions.values() for line in ("", "", text)]
        return "\n".join([*head, *constants, *definitions]) + "\n"

    def add_function(self, function: FunctionType) -> None:
        self.seen[function.__name__] = function
        text = _function_text(function)
        self._add_needs(function.__name__, text, _outside(function, text))
        # After what it needs, since default arguments are evaluated in place.
        self.definitions[function.__name__] = text

    def add_class(self, owner: type) -> None:
        self.seen[owner.__name__] = owner
        text = _class_text(owner)
        self._add_needs(owner.__name__, text, _outside_class(owner, text))
        self.definitions[owner.__name__] = text

    def _add_needs(self, reader: str, text: str, needs: dict[str, Any]) -> None:
        for name, value in needs.items():
            self.add(name, value, reader)

    def add(self, name: str, value: Any, reader: str) -> None:
        plain = _undecorated(value)
        if name in self.seen:
            what = f"two different things are called {name!r} in what {reader!r} needs."
            require(_same(self.seen[name], plain), what, "Rename one of them.")
            return
        self.seen[name] = plain
        self._add_new(name, value, reader)

    def _add_new(self, name: str, value: Any, reader: str) -> None:
        if isinstance(value, ModuleType) and not _is_installed(value):
            fix = f"Import what it needs by name: from {value.__name__} import ..."
            raise TaskError(f"it reads {name!r}, a file of yours, which a task cannot import.", fix=fix)
        statement = import_statement(name, value)
        text = written(value)
        if statement:
            self.imports[name] = statement
        elif text is not None:
            self.constants[name] = f"{name} = {text}"
        elif inspect.isfunction(_undecorated(value)):
            self._add_definition(name, plain_function(value), self.add_function)
        elif isinstance(value, type):
            self._add_definition(name, value, self.add_class)
        else:
            fix = f"Pass it to {reader!r} as an argument, or make it a plain constant."
            raise TaskError(f"it reads {name!r}, a {type(value).__name__}, which a task cannot hold.", fix=fix)

    def _add_definition(self, name: str, value: Any, add: Callable[[Any], None]) -> None:
        own_name = value.__name__
        if own_name == name:
            add(value)
        else:
            self.add(own_name, value, name)
            self.definitions[name] = f"{name} = {own_name}"


def _function_text(function: FunctionType) -> str:
    """The definition, dedented and without decorators."""
    text, definition = _definition(function)
    require(isinstance(definition, ast.FunctionDef), "it is no plain function.", "Pass a function written with def.")
    return "\n".join(text.splitlines()[definition.lineno - 1 : definition.end_lineno])


def _class_text(owner: type) -> str:
    """The definition, dedented; decorators stay, a class may be nothing without them."""
    text, definition = _definition(owner)
    what = f"{owner.__name__!r} is not written as a class."
    require(isinstance(definition, ast.ClassDef) and definition.name == owner.__name__, what)
    return text.rstrip()


# Looking for a class reads its whole file: once for all the modules that are of this class.
@cache
def _definition(value: Any) -> tuple[str, ast.stmt]:
    try:
        text = textwrap.dedent(inspect.getsource(value))
        return text, parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        fix = "Define it in a file; text typed at a prompt or made by exec cannot be found again."
        raise TaskError(f"the text of {value.__name__!r} cannot be found.", fix=fix) from error


def _outside(function: FunctionType, text: str) -> dict[str, Any]:
    """The values of the names that the function reads from outside itself."""
    known = {**vars(builtins), **function.__globals__, **_enclosed(function)}
    return _values_of(_names_read(function.__name__, text), known)


def _outside_class(owner: type, text: str) -> dict[str, Any]:
    module = sys.modules.get(owner.__module__)
    methods = [value for value in vars(owner).values() if inspect.isfunction(value)]
    enclosed = {name: value for method in methods for name, value in _enclosed(method).items()}
    # `super()` reads a cell of that name, which is there wherever a class is.
    enclosed.pop("__class__", None)
    known = {**vars(builtins), **(vars(module) if module else {}), **enclosed}
    return _values_of(_names_read(owner.__name__, _without_annotations(text)), known)


def _names_read(name: str, text: str) -> list[str]:
    reads = Reads.of(Reference.parse(text, name))
    return sorted((reads.when_called[name] | reads.import_time()) - {name})


def _values_of(names: list[str], known: dict[str, Any]) -> dict[str, Any]:
    missing = [name for name in names if name not in known]
    require(not missing, f"it reads {', '.join(missing)}, which is not defined.")
    return {name: known[name] for name in names if known[name] is not vars(builtins).get(name)}


def _without_annotations(text: str) -> str:
    """For reading names only: postponed annotations are never evaluated."""
    tree = parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.arg():
                node.annotation = None
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = None
            case ast.AnnAssign():
                node.annotation = ast.Constant(None)
    return ast.unparse(tree)


def _enclosed(function: FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def _is_installed(module: ModuleType) -> bool:
    known = module.__name__.split(".")[0] in _INSTALLED
    return known or bool({"site-packages", "dist-packages"} & set(Path(module.__file__ or "").parts))


def import_statement(name: str, value: Any) -> str | None:
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
    candidates: Iterable[str | None] = (*_HOMES, getattr(value, "__module__", None))
    for module in filter(None, candidates):
        installed = module.split(".")[0] in _INSTALLED and module in sys.modules
        if installed and getattr(sys.modules[module], original, None) is value:
            yield module
