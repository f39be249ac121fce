"""Candidate text as Python: does it parse, what does it define, what does it lack. Nothing is executed."""

import ast
import builtins
import re

WANTED = "ModelNew"
_MENTIONED = re.compile(rf"^[ \t]*class[ \t]+{WANTED}\b|^{WANTED}[ \t]*=", re.MULTILINE)
# A line of the module itself: neither indented nor the end of a bracket.
_STATEMENT = re.compile(r"[^\s)\]}]")
CUTS = 20
_GIVEN = frozenset(dir(builtins)) | {"__file__", "__name__"}


def tree_of(text: str) -> ast.Module | None:
    """None where the text is not valid Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def valid_start(text: str) -> str:
    """As many whole statements of the module, from the first, as are valid: what follows is prose or was cut off."""
    lines = text.split("\n")
    for _ in range(CUTS):
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as error:
            wrong = min(error.lineno or 1, len(lines))
            begins = [at for at in range(wrong) if _STATEMENT.match(lines[at])]
            lines = lines[: begins[-1]] if begins else []
        except (ValueError, RecursionError, MemoryError):
            return ""
        else:
            break
    return "\n".join(lines)


def mentions(text: str) -> bool:
    """Whether the text seems to define what is wanted, valid or not."""
    return bool(_MENTIONED.search(text))


def defines(text: str) -> bool:
    """Whether the text is valid Python whose module defines what is wanted."""
    tree = tree_of(text) if mentions(text) else None
    return tree is not None and WANTED in bound(tree)


def bound(tree: ast.Module) -> set[str]:
    """Names that a module binds, as far as they are easily seen."""
    return {name for node in tree.body for name in _bound_by(node)}


def _bound_by(node: ast.stmt) -> set[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    if hasattr(node, "body") and isinstance(node.body, list):  # if, try, with
        return {name for inner in node.body if isinstance(inner, ast.stmt) for name in _bound_by(inner)}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def lacking(text: str) -> set[str]:
    """Names that a module reads and nobody in it binds, in whatever scope."""
    tree = tree_of(text)
    if tree is None:
        return set()
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    nested = {name for node in ast.walk(tree) if isinstance(node, ast.stmt) for name in _bound_by(node)}
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    return read - stored - arguments - nested - caught - _GIVEN


def finished(text: str) -> bool:
    """Whether the wanted class, if it is the last thing in a text that was cut off, seems whole: `forward` returns."""
    tree = tree_of(text)
    if tree is None or not tree.body:
        return False
    last = tree.body[-1]
    if not (isinstance(last, ast.ClassDef) and last.name == WANTED):
        return True
    forwards = [node for node in last.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    return bool(forwards) and _returns(forwards[-1].body)


def _returns(body: list[ast.stmt]) -> bool:
    """Whether statements end by returning, whichever way they go."""
    match body[-1:]:
        case [ast.Return(value=ast.expr()) | ast.Raise()]:
            return True
        case [ast.If(body=then, orelse=other)]:
            return _returns(then) and _returns(other)
        case [ast.With(body=inside)]:
            return _returns(inside)
    return False
