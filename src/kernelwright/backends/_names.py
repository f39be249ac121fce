"""Where the names of a Python file come from: `np` is numpy, `lib` is what `native.cpp` returned.

Reads the whole file once and follows imports and plain assignments, in whatever scope they stand. A name that
is bound to two things keeps the last; nothing is executed.
"""

import ast
import builtins
from collections.abc import Iterator

# Deeper than anyone writes; a file made to exhaust its reader counts as unreadable.
DEEPEST = 400


def parse(text: str) -> ast.Module | None:
    """The file's syntax tree, None if it is not valid Python that a person could have written."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _depth_within(tree, DEEPEST) else None


def _depth_within(tree: ast.AST, limit: int) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return not level


def path(node: ast.AST) -> str | None:
    """A chain of names as it is written, `self.lib`; None for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=base, attr=attribute):
            return _join(path(base), attribute)
    return None


class Names:
    """Resolves expressions to dotted origins. The result of calling `a.b` is written `a.b()`."""

    def __init__(self, tree: ast.AST) -> None:
        self._origins: dict[str, str] = {}
        for node in ast.walk(tree):
            self._origins.update(_imported(node))
        for node in ast.walk(tree):
            self._follow(node)

    def of(self, node: ast.AST) -> str | None:
        """The origin of an expression, None if the file does not tell."""
        match node:
            case ast.Name(id=name):
                return self._origins.get(name, name if hasattr(builtins, name) else None)
            case ast.Attribute(value=base, attr=attribute):
                return self._origins.get(path(node) or "") or _join(self.of(base), attribute)
            case ast.Call():
                return self._of_call(node)
        return None

    def calls(self, tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
        """Every call in the tree of something whose origin is known."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (origin := self.of(node.func)):
                yield origin, node

    def _of_call(self, call: ast.Call) -> str | None:
        function = self.of(call.func)
        match function, call.args:
            case ("__import__" | "importlib.import_module", [ast.Constant(value=str(module)), *_]):
                return module
            case ("getattr", [base, ast.Constant(value=str(attribute)), *_]):
                return _join(self.of(base), attribute)
        return f"{function}()" if function else None

    def _follow(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
                origin = self.of(value)
                written = path(target)
                if origin and written:
                    self._origins[written] = origin


def _imported(node: ast.AST) -> dict[str, str]:
    match node:
        case ast.Import(names=aliases):
            return dict(_module_binding(alias) for alias in aliases)
        case ast.ImportFrom(module=str(module), names=aliases, level=0):
            return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in aliases}
    return {}


def _module_binding(alias: ast.alias) -> tuple[str, str]:
    top = alias.name.partition(".")[0]
    return (alias.asname, alias.name) if alias.asname else (top, top)


def _join(base: str | None, attribute: str) -> str | None:
    return f"{base}.{attribute}" if base else None
