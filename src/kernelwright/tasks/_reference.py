"""What can be said about a reference by reading its text.

Knows which names the file defines and what `Model` looks like. Never executes the file.
"""

import ast
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from kernelwright.tasks._error import TaskError, closest
from kernelwright.tasks._literals import parse

_KNOWN_BASES = {"Module", "nn.Module", "torch.nn.Module", "object"}


@dataclass(frozen=True)
class Signature:
    """Positional parameters of a method, without `self`."""

    names: tuple[str, ...]
    required: int
    unlimited: bool

    def accepts(self, count: int) -> bool:
        return self.required <= count and (self.unlimited or count <= len(self.names))

    def __str__(self) -> str:
        return f"({', '.join((*self.names, *(['...'] if self.unlimited else [])))})"


@dataclass(frozen=True)
class Reference:
    """A reference file: its text, what messages call it, and its syntax tree."""

    text: str
    where: str
    tree: ast.Module

    @classmethod
    def parse(cls, text: str, where: str) -> "Reference":
        try:
            return cls(text, where, parse(text))
        except SyntaxError as error:
            what = f"the file is not valid Python: {error.msg}."
            raise TaskError(what, f"{where}:{error.lineno or 1}", "Correct that line.") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise TaskError(f"the file is not valid Python: {error}.", where) from error

    def replaced(self, text: str) -> "Reference":
        return Reference.parse(text, self.where)

    @cached_property
    def scopes(self) -> symtable.SymbolTable:
        return symtable.symtable(self.text, self.where, "exec")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything the file binds at top level, in order of appearance."""
        return tuple(s.get_name() for s in self.scopes.get_symbols() if s.is_assigned() or s.is_imported())

    def defines(self, name: str) -> bool:
        return name in self.names

    def require(self, *required: str) -> None:
        """Stops at the first name that the file should define and does not."""
        for name in required:
            if not self.defines(name):
                raise self._missing(name, required)
        self._require_forward()

    def _missing(self, name: str, required: Iterable[str]) -> TaskError:
        kind = "class" if name == "Model" else "function"
        what = f"the file defines no {kind} {name!r}."
        if name == "Model" and self.defines("ModelNew"):
            return TaskError(what, self.where, "It defines ModelNew: a candidate, given in place of a task?")
        meant = closest(name, [known for known in self.names if known not in required])
        if meant:
            return TaskError(what, f"{self.where}:{self._line(meant)}", f"Rename {meant!r} to {name!r}.")
        return TaskError(what, self.where, _PURPOSE[name])

    def _line(self, name: str) -> int:
        lines = (node.lineno for node in self.tree.body if getattr(node, "name", None) == name)
        return next(lines, 1)

    def _require_forward(self) -> None:
        model = self.class_named("Model")
        if model is None or not self._has_known_bases(model):
            return
        if any(_binds(owner, "forward") for owner in self._lineage(model)):
            return
        methods = [node.name for node in model.body if isinstance(node, ast.FunctionDef)]
        meant = closest("forward", methods)
        fix = f"Rename {meant!r} to 'forward'." if meant else "Define forward(self, ...): the computation."
        raise TaskError("class Model has no method 'forward'.", f"{self.where}:{model.lineno}", fix)

    def class_named(self, name: str) -> ast.ClassDef | None:
        found = [node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name == name]
        return found[-1] if found else None

    def function(self, name: str) -> ast.FunctionDef | None:
        found = [node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
        return found[-1] if found else None

    def method(self, name: str) -> ast.FunctionDef | None:
        """The method of `Model`, or of the bases that this file defines."""
        model = self.class_named("Model")
        lineage = self._lineage(model) if model else ()
        return next((found for owner in lineage if (found := _method_of(owner, name))), None)

    def _lineage(self, owner: ast.ClassDef, seen: frozenset[str] = frozenset()) -> Iterator[ast.ClassDef]:
        yield owner
        for base in owner.bases:
            parent = self.class_named(ast.unparse(base))
            if parent is not None and parent.name not in seen | {owner.name}:
                yield from self._lineage(parent, seen | {owner.name})

    def _has_known_bases(self, model: ast.ClassDef) -> bool:
        """Whether nothing could be inherited that this file does not show."""
        bases = {ast.unparse(base) for owner in self._lineage(model) for base in owner.bases}
        return all(base in _KNOWN_BASES or self.class_named(base) for base in bases)

    def signature(self, method: str) -> Signature | None:
        """Positional parameters of a method of `Model`; None where the text does not tell."""
        found = self.method(method)
        return _signature(found.args) if found else None


_PURPOSE = {
    "Model": "Define class Model(torch.nn.Module): the computation to make fast.",
    "get_inputs": "Define get_inputs(), which returns the list of arguments of forward.",
    "get_init_inputs": "Define get_init_inputs(), which returns the list of arguments of Model; often [].",
}


def _method_of(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    found = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1] if found else None


def _binds(owner: ast.ClassDef, name: str) -> bool:
    assigned = (node for statement in owner.body for node in ast.walk(statement) if isinstance(node, ast.Name))
    stored = any(node.id == name and isinstance(node.ctx, ast.Store) for node in assigned)
    return stored or any(getattr(node, "name", None) == name for node in owner.body)


def _signature(arguments: ast.arguments) -> Signature:
    names = tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))[1:]
    return Signature(names, len(names) - len(arguments.defaults), arguments.vararg is not None)
