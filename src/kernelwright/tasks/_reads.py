"""Which top-level names of a reference depend on which.

Knows scopes and the difference between import time and call time. This decides which sizes can be changed
without changing the model itself.
"""

import ast
import symtable
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernelwright.tasks._reference import Reference


@dataclass(frozen=True)
class Reads:
    """Which top-level names are read by which, and when.

    Attributes:
        when_called: For each function, what its body reads.
        when_imported: For each top-level name, what its definition reads while the file is imported.
        classes: Names of the classes.
    """

    when_called: Mapping[str, frozenset[str]]
    when_imported: Mapping[str, frozenset[str]]
    classes: frozenset[str]

    @classmethod
    def of(cls, reference: Reference) -> "Reads":
        called = {
            table.get_name(): _globals_in(table)
            for table in reference.scopes.get_children()
            if table.get_type() in ("function", "class")
        }
        classes = {node.name for node in reference.tree.body if isinstance(node, ast.ClassDef)}
        return cls(called, _import_reads(reference.tree), frozenset(classes))

    def by_call(self, *names: str) -> frozenset[str]:
        """What is read when the functions are called, and by the functions that they call."""
        return _closure(names, [self.when_called])

    def by_any_means(self, *names: str) -> frozenset[str]:
        """Also what only shaped other values while the file was imported."""
        return _closure(names, [self.when_called, self.when_imported])

    def fixed(self) -> frozenset[str]:
        """What the model or its constructor arguments depend on."""
        return self.by_any_means("get_init_inputs", *self.classes)

    def import_time(self) -> frozenset[str]:
        return frozenset().union(*self.when_imported.values())


def _globals_in(table: symtable.SymbolTable) -> frozenset[str]:
    own = {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return frozenset(own).union(*(_globals_in(child) for child in table.get_children()))


def _import_reads(tree: ast.Module) -> dict[str, frozenset[str]]:
    reads: dict[str, frozenset[str]] = {}
    for statement in tree.body:
        loaded, stored = _import_names(statement)
        for name in stored:
            reads[name] = reads.get(name, frozenset()) | loaded
    return reads


def _import_names(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a top-level statement loads and binds while the file is imported."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = statement.args
        early = [*statement.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]
        return _names(early, ast.Load), frozenset({statement.name})
    if isinstance(statement, ast.ClassDef):
        early = [*statement.decorator_list, *statement.bases, *(k.value for k in statement.keywords)]
        return _names(early, ast.Load), frozenset({statement.name})
    stored = _names([statement], ast.Store)
    augmented = stored if isinstance(statement, ast.AugAssign) else frozenset()
    # A bare expression binds nothing; "" keeps what it reads in the books.
    return _names([statement], ast.Load) | augmented, stored or frozenset({""})


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> frozenset[str]:
    inner = (node for root in nodes for node in ast.walk(root))
    return frozenset(node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, context))


def _closure(start: Iterable[str], edges: list[Mapping[str, frozenset[str]]]) -> frozenset[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        found = frozenset().union(*(edge.get(name, frozenset()) for edge in edges)) - reached
        reached |= found
        waiting.extend(found)
    return frozenset(reached)
