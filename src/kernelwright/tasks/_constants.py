"""The top-level constants of a reference, and the same text with other values for them.

Knows assignments of plain values: `dim = 4096`, `m, n = 2, 3`, `h = w = 64`, `k: int = 1024 * 2`. Changes the
text of the value and nothing else.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kernelwright.tasks._error import TaskError, choose_among
from kernelwright.tasks._literals import NotPlainError, evaluate, fold, is_integer, literal_text
from kernelwright.tasks._reference import Reference


@dataclass(frozen=True)
class Binding:
    """A top-level name and the expression it is bound to.

    Attributes:
        shared: Whether other names are bound to the same expression, as in `h = w = 64`.
    """

    name: str
    node: ast.expr
    statement: ast.stmt
    shared: bool = False

    @property
    def value(self) -> Any:
        return fold(self.node, {})

    @property
    def is_plain(self) -> bool:
        try:
            self.value  # noqa: B018 - asks only whether there is one
        except NotPlainError:
            return False
        return True


def bindings(reference: Reference) -> dict[str, Binding]:
    """Top-level names by their last assignment."""
    return {found.name: found for statement in reference.tree.body for found in _bindings_of(statement)}


def _bindings_of(statement: ast.stmt) -> Iterator[Binding]:
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _matched(target, value, statement, shared=len(targets) > 1)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield Binding(name, value, statement)
        case ast.AugAssign() | ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
            yield from _computed(statement, statement)


def _matched(target: ast.expr, value: ast.expr, statement: ast.stmt, *, shared: bool) -> Iterator[Binding]:
    match target, value:
        case ast.Name(id=name), _:
            yield Binding(name, value, statement, shared)
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for inner, element in zip(names, values, strict=True):
                yield from _matched(inner, element, statement, shared=shared)
        case _:
            yield from _computed(target, statement)


def _computed(target: ast.AST, statement: ast.stmt) -> Iterator[Binding]:
    """Names bound in some other way. Standing for themselves, they are nothing plain."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Binding(node.id, node, statement)


def constants(reference: Reference) -> dict[str, Any]:
    """Top-level names that are bound to plain values."""
    return {name: found.value for name, found in bindings(reference).items() if found.is_plain}


def sizes(reference: Reference) -> dict[str, int]:
    """The constants that may be sizes: integers from 2 on."""
    return {name: value for name, value in constants(reference).items() if is_integer(value) and value >= 2}


def environment(reference: Reference, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Values of all top-level names that can be computed by reading, with some overridden at their source."""
    known: dict[str, Any] = {}
    for statement in reference.tree.body:
        for found in _bindings_of(statement):
            known |= _valued(found, known, overrides)
    return known


def _valued(found: Binding, known: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    if found.name in overrides:
        return {found.name: overrides[found.name]}
    try:
        return {found.name: fold(found.node, known)}
    except NotPlainError:
        return {}


def read_setting(name: str, setting: str | int | float | bool, current: Any = None) -> Any:
    """The value a user set; text is read as a Python literal."""
    if not isinstance(setting, str):
        return setting
    try:
        return evaluate(setting)
    except NotPlainError as error:
        if isinstance(current, str):
            return setting
        fix = "Write a number, a quoted string, True, False or a tuple."
        raise TaskError(f"the value {setting!r} set for {name!r} is not a Python literal.", fix=fix) from error


def with_constants(reference: Reference, settings: Mapping[str, str | int | float | bool]) -> Reference:
    """The reference with some constants set to other values."""
    for name, setting in settings.items():
        found = _settable(reference, name)
        text = literal_text(read_setting(name, setting, found.value))
        reference = reference.replaced(_rewritten(reference.text, found, text))
    return reference


def _settable(reference: Reference, name: str) -> Binding:
    found = bindings(reference).get(name)
    if found is None:
        what = f"there is no top-level constant {name!r} to set."
        raise TaskError(what, reference.where, choose_among(name, constants(reference)))
    if not found.is_plain:
        how = ast.unparse(found.statement).splitlines()[0]
        what = f"{name!r} is computed ({how}), not a plain value that can be set."
        where = f"{reference.where}:{found.statement.lineno}"
        raise TaskError(what, where, choose_among(name, constants(reference)))
    return found


def _rewritten(text: str, found: Binding, value: str) -> str:
    if found.shared:
        # `h = w = 64` must keep w: h is bound again, right behind the statement.
        end = _offset(text, found.statement.end_lineno, found.statement.end_col_offset)
        return _spliced(text, end, end, f"; {found.name} = {value}")
    start = _offset(text, found.node.lineno, found.node.col_offset)
    end = _offset(text, found.node.end_lineno, found.node.end_col_offset)
    return _spliced(text, start, end, value)


def _offset(text: str, line: int | None, column: int | None) -> int:
    """Position in the UTF-8 bytes of the text, which is what syntax trees count in."""
    lines = text.encode().split(b"\n")
    return sum(len(before) + 1 for before in lines[: (line or 1) - 1]) + (column or 0)


def _spliced(text: str, start: int, end: int, replacement: str) -> str:
    data = text.encode()
    return (data[:start] + replacement.encode() + data[end:]).decode()
