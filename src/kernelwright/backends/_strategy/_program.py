"""A kernel in few kinds of node, whatever language it was written in, and ways to walk over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expr:
    """`kind`: name, number, load, call, launch, op, cast, member, spread, or other.

    A load's first part is its base, the others are indices; a method's first part is its object.
    `text` is the name, the operator, what is called, or the type of a cast.
    """

    kind: str
    text: str = ""
    parts: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """An assignment, a declaration (`declares`), or a store; `sizes` where an array is declared."""

    target: Expr
    value: Expr | None
    operator: str = "="
    declares: bool = False
    type: str = ""
    sizes: tuple[Expr, ...] | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Do:
    """An expression for its effect."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop; `variable` and what it starts at and is stepped by (`+=` 16, `*=` 2), where that is written so."""

    variable: str
    start: Expr | None
    bound: Expr | None
    step: str
    stride: Expr | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    test: Expr
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Directive:
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    text: str
    operands: tuple[Expr, ...] = ()


Statement = Set | Do | Loop | Branch | Directive | Assembly


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """`mentions`: every name in it, for finding out what calls what. `stages`: how deep its loops are pipelined."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    mentions: frozenset[str]
    kernel: bool = False
    helper: bool = False
    stages: int = 1


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel started, with the plain names among its arguments (empty for anything else)."""

    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What of a text can run: its functions, the launches in their order, the wide types it makes itself."""

    functions: tuple[Function, ...]
    launches: tuple[Launch, ...] = ()
    wide: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A statement where it stands: inside which loops (outermost first), under which tests, after how many others."""

    statement: Statement
    loops: tuple[Loop, ...] = ()
    tests: tuple[Expr, ...] = ()
    order: int = 0


def places(body: tuple[Statement, ...]) -> list[Place]:
    """All statements, in the order of the text."""
    found: list[Place] = []
    _gather(body, (), (), found)
    return found


def _gather(body: tuple[Statement, ...], loops: tuple[Loop, ...], tests: tuple[Expr, ...], found: list[Place]) -> None:
    for statement in body:
        found.append(Place(statement, loops, tests, len(found)))
        match statement:
            case Loop():
                _gather(statement.body, (*loops, statement), tests, found)
            case Branch(test=test, body=inside, otherwise=otherwise):
                _gather(inside, loops, (*tests, test), found)
                _gather(otherwise, loops, (*tests, test), found)


def own_expressions(statement: Statement) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not of those inside it."""
    match statement:
        case Set(target=target, value=value):
            return (target,) if value is None else (target, value)
        case Do(value=value):
            return (value,)
        case Loop(start=start, bound=bound, stride=stride):
            return tuple(part for part in (start, bound, stride) if part is not None)
        case Branch(test=test):
            return (test,)
        case Assembly(operands=operands):
            return operands
    return ()


def within(expression: Expr | None) -> Iterator[Expr]:
    """An expression and everything in it."""
    waiting = [] if expression is None else [expression]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.parts))


def values_in(expression: Expr | None) -> Iterator[Expr]:
    """An expression and what its value is reckoned from, without what only says which element is meant."""
    waiting = [] if expression is None else [expression]
    while waiting:
        each = waiting.pop()
        yield each
        if each.kind != "load":
            waiting.extend(reversed(each.parts))


def names_in(expression: Expr | None) -> set[str]:
    """The names in it; `sums.mean` is one, and `sums` too."""
    found = {each.text for each in within(expression) if each.kind == "name"}
    return found | {whole(name) for name in found}


def whole(name: str) -> str:
    """What a member belongs to: `sums` of `sums.mean`."""
    return name.partition(".")[0]


def base(expression: Expr) -> str:
    """The name that an address is reckoned from: `tile` of `&tile[i][j]`, `x` of `*(x + i)`."""
    return next((each.text for each in within(expression) if each.kind == "name"), "")


def spelled(expression: Expr | None) -> str:
    """An expression as text, the same for the same structure."""
    if expression is None:
        return ""
    inside = [spelled(part) for part in expression.parts]
    match expression.kind:
        case "name" | "number":
            return expression.text
        case "load":
            return f"{inside[0]}[{']['.join(inside[1:])}]"
        case "member":
            return f"{inside[0]}.{expression.text}"
        case "call" if expression.text.startswith("."):
            return f"{inside[0]}{expression.text}({', '.join(inside[1:])})"
        case "op":
            return f"({f' {expression.text} '.join(inside)})" if len(inside) > 1 else expression.text + "".join(inside)
    return f"{expression.text}({', '.join(inside)})"
