"""C-family text as its compiler would read it: comments gone, dead `#if` branches gone, macros expanded.

Only what the text itself defines. A name that nobody defined is not defined, but for those that compilers bring
(`__CUDA_ARCH__`, `__AVX512F__`, `_OPENMP`): they count as defined and large, the newest hardware being meant.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_STRING = r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n]){1,4}\''
_NOT_CODE = re.compile(rf"(?P<string>{_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_WORD_OR_STRING = re.compile(rf"(?P<string>{_STRING})|(?P<word>\b[A-Za-z_]\w*)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_DEFINE = re.compile(r"(\w+)(?:\(([^()]*)\))?\s*(.*)", re.DOTALL)
_DEEPEST, _LARGEST, _ARGUMENTS = 8, 2_000_000, 4000


@dataclass(frozen=True)
class Macro:
    parameters: tuple[str, ...] | None
    body: str


def preprocess(text: str, predefined: Mapping[str, str]) -> str:
    """The text that is left to be parsed; `predefined`: macros as `NAME` or `NAME(a, b)` to what they stand for."""
    macros = {name: macro for line in predefined.items() for name, macro in _defined(" ".join(line))}
    joined = text.replace("\r\n", "\n").replace("\\\n", " ")
    kept = list(_kept(_NOT_CODE.sub(_without_comment, joined), macros))
    return "\n".join(_expanded(kept, macros))


def _without_comment(match: re.Match[str]) -> str:
    return match["string"] or " " + "\n" * match[0].count("\n")


def _defined(definition: str) -> Iterator[tuple[str, Macro]]:
    match = _DEFINE.match(definition)
    if match:
        parameters = None if match[2] is None else tuple(each.strip() for each in match[2].split(",") if each.strip())
        yield match[1], Macro(parameters, match[3].strip())


def _kept(text: str, macros: dict[str, Macro]) -> Iterator[str]:
    """The lines of living branches; definitions go to `macros`, pragmas stay."""
    conditions = _Conditions(macros)
    for line in text.split("\n"):
        match = _DIRECTIVE.fullmatch(line)
        if match is None:
            yield line if conditions.living else ""
        elif conditions.take(match[1], match[2]) or not conditions.living:
            yield ""
        elif match[1] == "pragma":
            yield line
        else:
            _take_definition(match[1], match[2], macros)
            yield ""


def _take_definition(word: str, rest: str, macros: dict[str, Macro]) -> None:
    if word == "define":
        macros.update(_defined(rest))
    elif word == "undef":
        macros.pop(rest.strip(), None)


class _Conditions:
    """The `#if`s one is inside of: whether this branch lives, and whether one before it did."""

    def __init__(self, macros: Mapping[str, Macro]) -> None:
        self._macros = macros
        self._open: list[tuple[bool, bool]] = []

    @property
    def living(self) -> bool:
        return all(living for living, _ in self._open)

    def take(self, word: str, rest: str) -> bool:
        """Whether that was a directive about branches."""
        if word in ("if", "ifdef", "ifndef"):
            holds = self._holds(word, rest)
            self._open.append((holds, holds))
        elif word in ("elif", "else") and self._open:
            _, before = self._open.pop()
            holds = not before and (word == "else" or self._holds("if", rest))
            self._open.append((holds, before or holds))
        elif word == "endif" and self._open:
            self._open.pop()
        return word in ("if", "ifdef", "ifndef", "elif", "else", "endif")

    def _holds(self, word: str, rest: str) -> bool:
        if word == "if":
            value = evaluate(rest, self._number)
            return value is None or bool(value)
        return bool(self._is_defined(rest.strip())) == (word == "ifdef")

    def _is_defined(self, name: str) -> int:
        return int(name in self._macros or name.startswith("__") or name == "_OPENMP")

    def _number(self, name: str) -> int | None:
        if name in self._macros:
            return evaluate(self._macros[name].body, lambda _: None)
        return 1_000_000 if self._is_defined(name) else 0


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(text: str, number: Callable[[str], int | None]) -> int | None:
    """An integer expression of C; None if it cannot be told. `number`: what a name stands for."""
    text = re.sub(r"\bdefined\s*\(?\s*(\w+)\s*\)?", lambda match: str(int(bool(number(match[1]) != 0))), text)
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
    text = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)))
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body, number)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return None if value is None or abs(value) > 1 << 64 else value


def _value(node: ast.expr, number: Callable[[str], int | None]) -> int | None:
    match node:
        case ast.Constant(value=bool() | int() as value):
            return int(value)
        case ast.Name(id=name):
            return number(name)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inside = _value(operand, number)
            return None if inside is None else int(not inside)
        case ast.BoolOp(op=joined, values=values):
            return _joined([_value(value, number) for value in values], isinstance(joined, ast.And))
        case ast.BinOp(left=left, op=sign, right=right):
            return _applied(sign, _value(left, number), _value(right, number))
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _applied(sign, _value(left, number), _value(right, number))
    return None


def _joined(values: list[int | None], is_and: bool) -> int | None:
    """One certain operand can decide, whatever the others are."""
    if any(value is not None and bool(value) != is_and for value in values):
        return int(not is_and)
    return None if None in values else int(is_and)


def _applied(sign: ast.AST, left: int | None, right: int | None) -> int | None:
    how = _OPERATORS.get(type(sign))
    return None if how is None or left is None or right is None else int(how(left, right))


def _expanded(lines: list[str], macros: Mapping[str, Macro]) -> Iterator[str]:
    """Pragmas stand on lines of their own, and stay; what lies between is expanded as one piece."""
    expander = _Expander(macros)
    piece: list[str] = []
    for line in lines:
        if line.lstrip().startswith("#"):
            yield from (expander.expand("\n".join(piece)), line)
            piece = []
        else:
            piece.append(line)
    yield expander.expand("\n".join(piece))


class _Expander:
    """Puts in what macros stand for, until so many letters were spent on it that nobody can have meant it."""

    def __init__(self, macros: Mapping[str, Macro]) -> None:
        self._macros = macros
        self._left = _LARGEST

    def expand(self, text: str, busy: frozenset[str] = frozenset()) -> str:
        """`busy`: the macros that this text came from; they stay as they are."""
        if len(busy) > _DEEPEST or not self._macros:
            return text
        done, end = [], 0
        for match in _WORD_OR_STRING.finditer(text):
            name = match["word"] or ""
            if match.start() < end or name not in self._macros or name in busy or self._left < 0:
                continue
            body, after = self._replaced(self._macros[name], text, match.end())
            if body is not None:
                done += [text[end : match.start()], self.expand(body, busy | {name})]
                self._left -= len(done[-1]) + 1
                end = after
        return "".join([*done, text[end:]])

    def _replaced(self, macro: Macro, text: str, position: int) -> tuple[str | None, int]:
        """What a macro's use at this place becomes, None if it is no use of it, and where it ends."""
        if macro.parameters is None:
            return macro.body, position
        arguments, end = _arguments(text, position)
        self._left -= max(end - position, _ARGUMENTS if arguments is None else 0)
        return (None if arguments is None else _filled(macro, macro.parameters, arguments)), end


def _filled(macro: Macro, parameters: tuple[str, ...], arguments: list[str]) -> str:
    given = dict(zip(parameters, arguments, strict=False))
    if "..." in parameters:
        given["__VA_ARGS__"] = ", ".join(arguments[len(parameters) - 1 :])
    body = re.sub(r"\b\w+\b", lambda match: given.get(match[0], match[0]), macro.body)
    return re.sub(r"\s*##\s*", "", body)


def _arguments(text: str, position: int) -> tuple[list[str] | None, int]:
    opening = re.compile(r"\s*\(").match(text, position)
    if opening is None:
        return None, position
    found, depth, start = [], 0, opening.end()
    for at in range(opening.end(), min(len(text), opening.end() + _ARGUMENTS)):
        letter = text[at]
        if letter in ",)" and not depth:
            found.append(text[start:at].strip())
            start = at + 1
        if letter == ")" and not depth:
            return found, at + 1
        depth += (letter in "([{") - (letter in ")]}")
    return None, position
