"""A parameter of a candidate: its name, the values it may take, the one it has as written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from kernelwright.tuning._error import TuningError
from kernelwright.tuning._expression import TRUTHS, Value

MOST_VALUES = 1024
INTEGER = re.compile(r"[+-]?(?:\d+|0[xX][0-9a-fA-F]+)")
FLOAT = re.compile(r"([+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)f?")
QUOTED = re.compile(r"""(["'])([^"'\\]*)\1""")
WORD = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
RANGE = re.compile(r"([+-]?\d+)\s*\.\.\s*([+-]?\d+)")


@dataclass(frozen=True)
class Choice:
    """A value as it is written, and what it is in a constraint."""

    text: str
    value: Value


@dataclass(frozen=True)
class Parameter:
    """What may be varied: the choices in the order of the declaration, and the text that stands in the source."""

    name: str
    choices: tuple[Choice, ...]
    default: str
    line: int

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each text stands among the choices."""
        return {choice.text: place for place, choice in enumerate(self.choices)}

    @cached_property
    def ordered(self) -> bool:
        """Whether neighbours among the choices are alike: numbers are, words are not."""
        return all(isinstance(choice.value, int | float) for choice in self.choices)


def read_parameter(name: str, default: str, values: str, line: int) -> Parameter:
    """Raises TuningError, with the line, where the values make no sense."""
    choices = [choice for part in values.split(",") for choice in _choices(name, part.strip(), line)]
    for place, choice in enumerate(choices):
        if any(choice.value == other.value for other in choices[:place]):
            raise TuningError(f"{name} is given the value {choice.text} twice", "say each value once", line)
    kept = _settled(name, default, choices, line)
    return Parameter(name, tuple(choices), kept, line)


def _choices(name: str, part: str, line: int) -> list[Choice]:
    if not part:
        raise TuningError(f"{name} has no values to choose from", "list them: `tune: 4, 8, 16`", line)
    if found := RANGE.fullmatch(part):
        return [Choice(str(value), value) for value in _range(name, int(found[1]), int(found[2]), line)]
    value = _value(part)
    if value is None:
        raise TuningError(f"{part!r} is no value for {name}", "numbers, true or false, words, or A..B are", line)
    return [Choice(part, value)]


def _range(name: str, first: int, last: int, line: int) -> range:
    if not 0 <= last - first < MOST_VALUES:
        raise TuningError(f"{first}..{last} is no range of at most {MOST_VALUES} values for {name}", "", line)
    return range(first, last + 1)


def _value(text: str) -> Value | None:
    if INTEGER.fullmatch(text):
        return int(text, 0) if "x" in text.lower() else int(text)
    if found := FLOAT.fullmatch(text):
        return float(found[1])
    if text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    if found := QUOTED.fullmatch(text):
        return found[2]
    return text if WORD.fullmatch(text) else None


def _settled(name: str, default: str, choices: list[Choice], line: int) -> str:
    """The text of the choice that stands in the source."""
    value = _value(default)
    for choice in choices:
        if choice.value == value:
            return choice.text
    listed = ", ".join(choice.text for choice in choices)
    raise TuningError(f"{name} is {default}, which is not among its values {listed}", "add it to them", line)
