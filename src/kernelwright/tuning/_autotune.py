"""Triton's own list of configurations, read from the text: `@triton.autotune(configs=[triton.Config(...), ...])`.

Nothing of the candidate is run. Lists, comprehensions over lists and ranges, names of the module and functions of one
`return` are worked out here; whatever else makes configurations is told as a sentence. A configuration leaves one entry
of the list: then Triton has nothing to try when the kernel is first called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelwright.tuning._error import TuningError
from kernelwright.tuning._expression import Expression, Names, Value
from kernelwright.tuning._parameter import Choice, Parameter
from kernelwright.tuning._static import Config, Unread, Verbatim, WorkedOut

Span = tuple[int, int]

# What Triton takes where a configuration does not say.
OPTIONS: dict[str, Value] = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}
LIST_THEM = "list them in the decorator: configs=[triton.Config({'BLOCK': 128}, num_warps=4), ...]"


@dataclass(frozen=True)
class Autotuned:
    """One kernel with a list of configurations.

    Attributes:
        function: The kernel's name.
        parameters: What its configurations set, and the values that occur; the first configuration gives the defaults.
        rows: The configurations, as texts in the order of the parameters.
        arguments: What the kernel takes. `key`: those by which Triton would tell calls apart.
        span: Where the list stands in the source. `decorator`: where the whole decorator does.
        called: What the decorator is called there.
    """

    function: str
    line: int
    parameters: tuple[Parameter, ...]
    rows: tuple[tuple[str, ...], ...]
    arguments: tuple[str, ...]
    key: tuple[str, ...]
    span: Span
    decorator: Span
    called: str
    _constructor: str = field(repr=False)
    _names: tuple[str, ...] = field(repr=False)
    _options: frozenset[str] = field(repr=False)

    def listed(self, chosen: Mapping[str, str]) -> str:
        """The list with one configuration, in Triton's words."""
        texts = self.texts(chosen)
        meta = ", ".join(f'"{name}": {text}' for name, text in texts.items() if name not in self._options)
        options = "".join(f", {name}={text}" for name, text in texts.items() if name in self._options)
        return f"[{self._constructor}({{{meta}}}{options})]"

    def texts(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """By the names that the kernel knows."""
        return {name: chosen[each.name] for name, each in zip(self._names, self.parameters, strict=True)}

    @property
    def constraint(self) -> Expression:
        """That nothing is chosen which is not in the list."""
        names = tuple(parameter.name for parameter in self.parameters)
        values = [{choice.text: choice.value for choice in parameter.choices} for parameter in self.parameters]
        rows = {tuple(known[text] for known, text in zip(values, row, strict=True)) for row in self.rows}

        def is_listed(chosen: Names) -> Value:
            return tuple(chosen[name] for name in names) in rows

        return Expression(f"the list of {self.function}", frozenset(names), is_listed)


def read_autotuned(source: str, taken: Sequence[str] = ()) -> tuple[Autotuned, ...]:
    """All kernels of a text that have a list. `taken`: names of other parameters, which stay theirs.

    Raises TuningError, with the line, where a list cannot be worked out from the text.
    """
    tree = _parsed(source)
    if tree is None:
        return ()
    found = [_Reader(source, tree, function, call) for function, call in _decorated(tree)]
    names = [*taken, *(name for reader in found for name in reader.names)]
    return tuple(reader.read({name for name in names if names.count(name) > 1}) for reader in found)


def is_autotuned(source: str) -> bool:
    """Whether some kernel has a list, readable or not."""
    tree = _parsed(source)
    return tree is not None and next(_decorated(tree), None) is not None


def _parsed(source: str) -> ast.Module | None:
    """None where it is no Python, which others say better, or has no word of this."""
    if "autotune" not in source:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _decorated(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    for node in ast.walk(tree):
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).split(".")[-1] == "autotune":
                assert isinstance(node, ast.FunctionDef)
                yield node, decorator


class _Reader:
    """One decorator and the function under it."""

    def __init__(self, source: str, tree: ast.Module, function: ast.FunctionDef, call: ast.Call) -> None:
        self._source, self._function, self._call = source, function, call
        self._lines = source.split("\n")
        self._list = _argument(call, "configs", 0)
        if self._list is None:
            raise TuningError(f"autotune of {function.name} has no configs", LIST_THEM, call.lineno)
        taken = function.args
        self._arguments = tuple(each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs))
        self._module = WorkedOut(tree)
        self._rows, self._constructor = self._configurations(self._list)
        self.names = tuple(dict.fromkeys(name for row in self._rows for name in row))
        self._check_arguments()

    def read(self, shared: set[str]) -> Autotuned:
        """`shared`: names that others have too; those are told apart by the kernel's."""
        assert self._list is not None
        rows = tuple(tuple(_text(self._value(row, name)) for name in self.names) for row in self._rows)
        key = _argument(self._call, "key", 1)
        return Autotuned(
            function=self._function.name,
            line=self._call.lineno,
            parameters=tuple(self._parameter(name, shared) for name in self.names),
            rows=tuple(dict.fromkeys(rows)),
            arguments=self._arguments,
            key=tuple(map(str, _literals(key))) if key is not None else (),
            span=self._span(self._list),
            decorator=self._span(self._call),
            called=ast.unparse(self._call.func),
            _constructor=self._constructor,
            _names=self.names,
            _options=frozenset(self.names) - self._meta,
        )

    # What the list says

    def _configurations(self, node: ast.expr) -> tuple[list[dict[str, Any]], str]:
        try:
            found = self._module.value(node)
        except Unread as error:
            what = f"the configurations of {self._function.name} cannot be read without running it: {error}"
            raise TuningError(what, LIST_THEM, error.line) from error
        if not isinstance(found, list) or not all(isinstance(one, Config) for one in found):
            what = f"the configurations of {self._function.name} are no list of triton.Config"
            raise TuningError(what, LIST_THEM, node.lineno)
        if not found:
            raise TuningError(f"the list of configurations of {self._function.name} is empty", LIST_THEM, node.lineno)
        self._meta = frozenset(name for one in found for name in one.meta)
        return [{**one.meta, **one.options} for one in found], found[0].constructor

    def _value(self, row: Mapping[str, Any], name: str) -> Any:
        if name in row:
            return row[name]
        if name in OPTIONS and name not in self._meta:
            return OPTIONS[name]
        what = f"some configurations of {self._function.name} give {name} a value and others do not"
        raise TuningError(what, "give it one in each of them", self._call.lineno)

    def _parameter(self, name: str, shared: set[str]) -> Parameter:
        values = {_text(value): _plain(value) for value in (self._value(row, name) for row in self._rows)}
        choices = [Choice(text, value) for text, value in values.items()]
        default = choices[0].text
        if all(isinstance(choice.value, int | float) for choice in choices):
            choices.sort(key=lambda choice: choice.value)
        called = f"{self._function.name}_{name}" if name in shared else name
        return Parameter(called, tuple(choices), default, self._call.lineno)

    def _check_arguments(self) -> None:
        """What a configuration sets, the kernel takes."""
        for name in sorted(self._meta - set(self._arguments)):
            what = f"the configurations of {self._function.name} set {name}, which is no argument of it"
            raise TuningError(what, "take it out, or add it to the arguments", self._call.lineno)

    # Where it stands

    def _span(self, node: ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """In characters; the parser counts a line's bytes."""
        before = sum(len(each) + 1 for each in self._lines[: line - 1])
        return before + len(self._lines[line - 1].encode()[:column].decode())


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    named = {each.arg: each.value for each in call.keywords}
    return named.get(name, call.args[place] if len(call.args) > place else None)


def _text(value: Any) -> str:
    return value.text if isinstance(value, Verbatim) else repr(value)


def _plain(value: Any) -> Value:
    """What it is in a constraint."""
    return value if isinstance(value, int | float | str) else _text(value)


def _literals(node: ast.expr) -> list[Any]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [each.value for each in elements if isinstance(each, ast.Constant)]
