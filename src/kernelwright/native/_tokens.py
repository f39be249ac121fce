"""C++ text as a list of tokens, with comments gone, conditionals settled and plain macros written out.

It knows just enough of the preprocessor for reading signatures: a macro with parameters stays unexpanded, and
of every #if the first branch is taken, since its alternatives as a rule repeat the same signatures.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

Macros = Mapping[str, Sequence[str]]

TOKEN = re.compile(
    r"""
      (?P<space>     \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<directive> \#(?:/\*.*?\*/|[^\n])* )
    | (?P<literal>   (?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"
                   | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                   | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
    | (?P<number>    \.?\d(?:[eEpP][+-]|'?[\w.])* )
    | (?P<word>      [A-Za-z_]\w* )
    | (?P<symbol>    ::|->|. )
    """,
    re.VERBOSE | re.DOTALL,
)
_MACRO = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(?!\w|\()(.*)", re.DOTALL)
_CONDITION = re.compile(r"#\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b\s*(.*)", re.DOTALL)
_NEVER = re.compile(r"(0|false)\s*(//.*|/\*.*)?")
_CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}


def tokens(text: str) -> list[str]:
    """The tokens a compiler would parse, near enough for reading declarations."""
    live = list(_live(_split(text.replace("\\\r\n", "").replace("\\\n", ""))))
    macros = _macros(live)
    return [word for token in live if not token.startswith("#") for word in _expand(token, macros)]


def is_word(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def closing(items: Sequence[str], start: int) -> int:
    """Index of the bracket that closes the one at `start`; the end when it is never closed."""
    opener, closer = items[start], _CLOSING[items[start]]
    depth = 0
    for index in range(start, len(items)):
        depth += (items[index] == opener) - (items[index] == closer)
        if depth == 0:
            return index
    return len(items)


def _split(text: str) -> Iterator[str]:
    return (match[0] for match in TOKEN.finditer(text) if match.lastgroup != "space")


def _live(items: Iterable[str]) -> Iterator[str]:
    """Drop all but the first possible branch of each conditional."""
    open_branches: list[bool] = []
    taken: list[bool] = []
    for item in items:
        condition = _CONDITION.match(item)
        if condition:
            _step(condition[1], condition[2], open_branches, taken)
        elif all(open_branches):
            yield item


def _step(keyword: str, condition: str, open_branches: list[bool], taken: list[bool]) -> None:
    if keyword.startswith("if"):
        open_branches.append(keyword != "if" or not _NEVER.fullmatch(condition))
        taken.append(open_branches[-1])
    elif open_branches and keyword == "endif":
        open_branches.pop(), taken.pop()
    elif open_branches:
        open_branches[-1] = not taken[-1] and not _NEVER.fullmatch(condition)
        taken[-1] = taken[-1] or open_branches[-1]


def _macros(items: Iterable[str]) -> Macros:
    """Macros without parameters; the later definition wins, as it does for the code that follows it."""
    found = (_MACRO.match(item) for item in items if item.startswith("#"))
    return {match[1]: list(_split(match[2])) for match in found if match}


def _expand(token: str, macros: Macros, busy: frozenset[str] = frozenset()) -> Iterator[str]:
    if token not in macros or token in busy:
        yield token
        return
    for part in macros[token]:
        yield from _expand(part, macros, busy | {token})
