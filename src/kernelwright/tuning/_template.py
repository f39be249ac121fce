"""A candidate that declares what may be varied, and its text for every choice.

    TILE = 16  # tune: 4, 8, 16, 32
    constexpr int UNROLL = 4;  // tune: 1, 2, 4, 8
    #define ORDER rows  // tune: rows, columns
    // tune where: TILE * UNROLL <= 64

A line that gives a name a value, and behind it a comment with the values it may have. As it stands the candidate is an
ordinary one, with its defaults. A configuration changes the value on that line and not one other character. A list of
configurations in Triton's own words counts too: `_autotune` reads it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kernelwright.tuning._autotune import Autotuned, Span, is_autotuned, read_autotuned
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._expression import Expression, ExpressionError, parse
from kernelwright.tuning._limits import LIMITS
from kernelwright.tuning._parameter import Parameter, read_parameter

MARK = re.compile(r"(?:#|//)\s*tune\b\s*(?P<kind>where|by)?\s*:\s*(?P<rest>.*?)\s*$")
LITERAL = r"""[+-]?[\w.]+(?:[eE][+-]\d+)?|"[^"]*"|'[^']*'|\w+(?:::\w+)*"""
DECLARED = re.compile(
    rf"""\s*(?:\#\s*define\s+(?P<macro>[A-Za-z_]\w*)\s+
           |(?:[\w<>]+(?:::[\w<>]+)*\s+)*(?P<name>[A-Za-z_]\w*)(?:\s*:\s*[\w.]+)?\s*=\s*)
        (?P<default>{LITERAL})\s*;?\s*""",
    re.VERBOSE,
)
C_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FORM = "write `NAME = 8  # tune: 4, 8`, `constexpr int NAME = 8;  // tune: 4, 8` or `#define NAME 8  // tune: 4, 8`"


@dataclass(frozen=True)
class Configuration:
    """One choice for every parameter: names and texts, in the order of the declaration."""

    choices: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return " ".join(f"{name}={text}" for name, text in self.choices)

    def to_json(self) -> dict[str, str]:
        return dict(self.choices)

    @classmethod
    def from_json(cls, told: Mapping[str, str]) -> Configuration:
        return cls(tuple(told.items()))


@dataclass(frozen=True)
class Template:
    """A candidate's source with its parameters.

    Attributes:
        source: As written; the same as the text for the defaults.
        constraints: What every configuration must satisfy.
        tells: The arguments of its native function that tell the cases apart, where the author named them.
        autotuned: Its kernels with a list of configurations in Triton's words.
    """

    source: str
    parameters: tuple[Parameter, ...]
    constraints: tuple[Expression, ...]
    tells: tuple[str, ...]
    _spans: Mapping[str, Span] = field(repr=False)
    autotuned: tuple[Autotuned, ...] = ()

    @property
    def default(self) -> Configuration:
        return Configuration(tuple((parameter.name, parameter.default) for parameter in self.parameters))

    def text(self, configuration: Configuration) -> str:
        """The candidate for one configuration."""
        chosen = dict(configuration.choices)
        changed = {span: chosen[name] for name, span in self._spans.items()}
        changed |= {kernel.span: kernel.listed(chosen) for kernel in self.autotuned}
        return replaced(self.source, changed)

    def span(self, name: str) -> Span:
        """Where a parameter's value stands in the source."""
        return self._spans[name]


def replaced(source: str, changed: Mapping[Span, str]) -> str:
    """The text with other words in these places, which do not overlap."""
    pieces, at = [], 0
    for (start, stop), text in sorted(changed.items()):
        pieces += [source[at:start], text]
        at = stop
    return "".join([*pieces, source[at:]])


@dataclass(frozen=True)
class _Line:
    """A line with a mark: where it begins, its number, what stands before the mark and what the mark says."""

    start: int
    number: int
    before: str
    kind: str
    rest: str


def read_template(source: str) -> Template:
    """Raises TuningError, in one sentence and with the line, where the declaration cannot be used."""
    lines = list(_marked(source))
    declared = [_declared(line) for line in lines if not line.kind]
    autotuned = read_autotuned(source, [parameter.name for parameter, _ in declared])
    if not declared and not autotuned:
        raise TuningError("the candidate declares no parameters, so there is nothing to tune", FORM)
    parameters = tuple(parameter for parameter, _ in declared)
    _check_used(source, parameters)
    parameters += tuple(parameter for kernel in autotuned for parameter in kernel.parameters)
    _check_names(parameters)
    constraints = tuple(_constraint(line, parameters) for line in lines if line.kind == "where")
    constraints += tuple(kernel.constraint for kernel in autotuned)
    tells = tuple(name.strip() for line in lines if line.kind == "by" for name in line.rest.split(",") if name.strip())
    spans = {parameter.name: span for parameter, span in declared}
    return Template(source, parameters, constraints, tells, spans, autotuned)


def is_template(source: str) -> bool:
    """Whether a candidate declares anything to tune, well or badly."""
    return any(True for _ in _marked(source)) or is_autotuned(source)


def _marked(source: str) -> Iterator[_Line]:
    start = 0
    for number, line in enumerate(source.split("\n"), 1):
        if found := MARK.search(line):
            yield _Line(start, number, line[: found.start()], found["kind"] or "", found["rest"])
        start += len(line) + 1


def _declared(line: _Line) -> tuple[Parameter, Span]:
    found = DECLARED.fullmatch(line.before)
    if found is None:
        raise TuningError(f"{line.before.strip()!r} does not give a name a value to tune", FORM, line.number)
    name, default = found["macro"] or found["name"], found["default"]
    parameter = read_parameter(name, default, line.rest, line.number)
    return parameter, (line.start + found.start("default"), line.start + found.end("default"))


def _check_names(parameters: Iterable[Parameter]) -> None:
    seen: dict[str, int] = {}
    for parameter in parameters:
        name, line = parameter.name, parameter.line
        if name in LIMITS:
            raise TuningError(f"{name} is the name of a limit ({LIMITS[name]})", "call the parameter otherwise", line)
        if name in seen:
            raise TuningError(f"{name} is declared on line {seen[name]} already", "declare it in one place", line)
        seen[name] = line


def _constraint(line: _Line, parameters: Iterable[Parameter]) -> Expression:
    try:
        expression = parse(line.rest)
    except ExpressionError as error:
        raise TuningError(f"the constraint {line.rest!r} is not usable: {error}", "", line.number) from error
    known = [*(parameter.name for parameter in parameters), *LIMITS]
    for name in sorted(expression.names):
        if name not in known:
            what = f"the constraint {line.rest!r} names {name}, which is neither a parameter nor a limit"
            raise TuningError(what, f"known: {', '.join(known)}", line.number)
    return expression


def _check_used(source: str, parameters: Iterable[Parameter]) -> None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        raise TuningError(f"the candidate is not valid Python: {error}", "give a file that is", line) from error
    names, texts = _names_and_texts(tree)
    for parameter in parameters:
        if parameter.name not in names and not any(_mentions(text, parameter.name) for text in texts):
            what = f"{parameter.name} is declared and never used, so its values make no difference"
            raise TuningError(what, "use it, or take the declaration out", parameter.line)


def _names_and_texts(tree: ast.Module) -> tuple[set[str], list[str]]:
    """Names that are read, and texts that are more than remarks; comments in C do not count."""
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    texts = [
        _code(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks
    ]
    return names, texts


def _code(text: str) -> str:
    """A native text without its comments and its declarations of parameters."""
    kept = [line for line in text.split("\n") if not (found := MARK.search(line)) or found["kind"]]
    return C_COMMENT.sub(" ", "\n".join(kept))


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None
