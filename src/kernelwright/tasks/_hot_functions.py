"""Functions of a project that may be worth making fast, as their text suggests: loops, array work, a benchmark."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

C_FAMILY = (".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hpp", ".cuh")
# A definition that begins a line: what it returns, its name, its arguments, its body.
_DEFINITION = re.compile(
    r"^[ \t]*(?!else\b|return\b|namespace\b|struct\b|class\b|enum\b|extern\b)[A-Za-z_][\w:<>,&*\s]*?[\s&*]"
    r"(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>[^;{}()]*)\)\s*(?:const\s*)?(?:noexcept\s*)?\{",
    re.MULTILINE,
)
_KEYWORDS = frozenset("if for while switch catch sizeof".split())
_LOOP = re.compile(r"^([ \t]*)(?:#pragma|(?:for|while)\b)", re.MULTILINE)
_BRACES = re.compile(r'[{}]|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
_CALLS = re.compile(r"\b(?:np|numpy|torch|F)\.\w+")


@dataclass(frozen=True)
class Function:
    """Where a function is, in lines from 1, and why it may be hot."""

    file: str
    name: str
    first: int
    last: int
    loops: int
    calls: int
    benchmarked: bool

    @property
    def heat(self) -> int:
        return 3 * min(self.loops, 4) + min(self.calls, 6) + 10 * self.benchmarked

    @property
    def why(self) -> str:
        found = [f"loops {self.loops} deep"] if self.loops else []
        found += [f"{self.calls} array operations"] if self.calls else []
        found += ["named in the benchmark"] if self.benchmarked else []
        return ", ".join(found) or "short and plain"


def functions_in(file: str, text: str, benchmark: str) -> list[Function]:
    """All of a file, in its order. `benchmark`: the text of what times the project."""
    found = _python(text) if file.endswith(".py") else _c_family(text)
    lines = text.splitlines()
    return [_function(file, name, first, last, lines, benchmark) for name, first, last in found]


def _function(file: str, name: str, first: int, last: int, lines: list[str], benchmark: str) -> Function:
    body = "\n".join(lines[first - 1 : last])
    named = bool(re.search(rf"\b{re.escape(name)}\b", benchmark))
    return Function(file, name, first, last, _depth(body), len(_CALLS.findall(body)), named)


def _depth(body: str) -> int:
    """How deep loops lie in each other, by their indentation."""
    open_at: list[int] = []
    deepest = 0
    for found in _LOOP.finditer(body):
        indent = len(found[1].expandtabs(4))
        open_at = [*(one for one in open_at if one < indent), indent]
        deepest = max(deepest, len(open_at))
    return deepest


def _python(text: str) -> Iterator[tuple[str, int, int]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            yield node.name, first, node.end_lineno or node.lineno


def _c_family(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _DEFINITION.finditer(text):
        end = _closing(text, found.end())
        if found["name"] not in _KEYWORDS and end is not None:
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            yield found["name"], text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1


def _closing(text: str, at: int) -> int | None:
    """Where the brace is closed that was opened before this place."""
    depth = 1
    for brace in re.finditer(
        r'[{}]|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', text[at:], re.DOTALL
    ):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return None
