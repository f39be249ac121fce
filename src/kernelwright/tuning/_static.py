"""What an expression of a candidate is worth, as far as its text says; nothing of it is run.

Lists, comprehensions, names that the module gives a plain value, functions of one `return`, Triton's `Config`, and the
arithmetic of constraints.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.tuning._expression import ExpressionError, parse

MOST_VALUES = 4096
# The arguments of a configuration that may go without a name, in their order.
PLACES = ("kwargs", "num_warps", "num_stages", "num_ctas")

Bound = Mapping[str, Any]


@dataclass(frozen=True)
class Config:
    """Triton's: what it sets in the kernel, and how the kernel is launched."""

    constructor: str
    meta: dict[str, Any]
    options: dict[str, Any]


@dataclass(frozen=True)
class Verbatim:
    """A value that stays as it is written, such as `tl.float16`."""

    text: str


class Unread(Exception):
    """An expression that takes more than this to work out."""

    def __init__(self, node: ast.expr, why: str) -> None:
        super().__init__(f"`{ast.unparse(node)[:60]}` {why}")
        self.line = node.lineno


class WorkedOut:
    """The values of expressions in one module."""

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._known[node.targets[0].id] = node.value
            elif isinstance(node, ast.FunctionDef) and (returned := _sole_return(node)) is not None:
                self._known[f"{node.name}()"] = returned
        self._open: list[str] = []

    def value(self, node: ast.expr, bound: Bound | None = None) -> Any:
        """Raises Unread."""
        bound = bound or {}
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return self._elements(elements, bound)
            case ast.ListComp(elt=element, generators=generators):
                return [self.value(element, names) for names in self._bindings(generators, bound)]
            case ast.Dict(keys=keys, values=values):
                return {self._key(key, node): self.value(each, bound) for key, each in zip(keys, values, strict=True)}
            case ast.Name(id=name):
                return bound[name] if name in bound else self._named(name, node)
            case ast.Call():
                return self._called(node, bound)
            case ast.Attribute():
                return Verbatim(ast.unparse(node))
            case ast.BinOp(op=ast.Add(), left=ast.List() | ast.ListComp() as left, right=right):
                return [*self._list(left, bound), *self._list(right, bound)]
        return self._calculated(node, bound)

    def _list(self, node: ast.expr, bound: Bound) -> list[Any]:
        found = self.value(node, bound)
        if not isinstance(found, list):
            raise Unread(node, "is no list")
        return found

    def _elements(self, nodes: Sequence[ast.expr], bound: Bound) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            found += self._list(node.value, bound) if isinstance(node, ast.Starred) else [self.value(node, bound)]
        return found

    def _key(self, key: ast.expr | None, node: ast.expr) -> str:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        raise Unread(node, "has a name that is no text")

    def _named(self, name: str, node: ast.expr) -> Any:
        if name not in self._known or name in self._open:
            raise Unread(node, "has no plain value in the module")
        self._open.append(name)
        try:
            return self.value(self._known[name])
        finally:
            self._open.pop()

    # Calls

    def _called(self, node: ast.Call, bound: Bound) -> Any:
        name = ast.unparse(node.func)
        if name.split(".")[-1] == "Config":
            return self._config(name, node, bound)
        if name == "range" and not node.keywords:
            return self._range(node, [self.value(each, bound) for each in node.args])
        if not node.args and not node.keywords:
            return self._named(f"{name}()", node)
        return self._calculated(node, bound)

    def _config(self, name: str, node: ast.Call, bound: Bound) -> Config:
        given = {place: self.value(each, bound) for place, each in zip(PLACES, node.args, strict=False)}
        given |= {str(each.arg): self.value(each.value, bound) for each in node.keywords}
        meta = given.pop("kwargs", {})
        if not isinstance(meta, dict) or "pre_hook" in given or len(node.args) > len(PLACES):
            raise Unread(node, "is more than names and values")
        return Config(name, meta, given)

    def _range(self, node: ast.expr, numbers: Sequence[Any]) -> list[int]:
        try:
            found = range(*numbers)
        except (TypeError, ValueError) as error:
            raise Unread(node, f"is no range: {error}") from error
        if len(found) > MOST_VALUES:
            raise Unread(node, f"has more than {MOST_VALUES} values")
        return list(found)

    # Comprehensions and arithmetic

    def _bindings(self, generators: Sequence[ast.comprehension], bound: Bound) -> list[dict[str, Any]]:
        found = [dict(bound)]
        for each in generators:
            found = [names for before in found for names in self._bound_by(each, before)]
            if len(found) > MOST_VALUES:
                raise Unread(each.iter, f"makes more than {MOST_VALUES} configurations")
        return found

    def _bound_by(self, each: ast.comprehension, before: Bound) -> list[dict[str, Any]]:
        found = [{**before, **_taken_apart(each.target, value)} for value in self._list(each.iter, before)]
        return [names for names in found if all(self.value(condition, names) for condition in each.ifs)]

    def _calculated(self, node: ast.expr, bound: Bound) -> Any:
        """As in a constraint."""
        try:
            expression = parse(ast.unparse(node))
            names = {name: bound[name] if name in bound else self._named(name, node) for name in expression.names}
            return expression.value(names)
        except ExpressionError as error:
            raise Unread(node, f"is not worked out here: {error}") from error


def _taken_apart(target: ast.expr, value: Any) -> dict[str, Any]:
    """What a loop gives names."""
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=targets) if isinstance(value, list) and len(value) == len(targets):
            return {
                name: each
                for one, part in zip(targets, value, strict=True)
                for name, each in _taken_apart(one, part).items()
            }
    raise Unread(target, "does not fit what it is given")


def _sole_return(function: ast.FunctionDef) -> ast.expr | None:
    """What a function without arguments returns, where it does nothing else."""
    *before, last = function.body
    remarks = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in before)
    return last.value if isinstance(last, ast.Return) and remarks and not function.args.args else None
