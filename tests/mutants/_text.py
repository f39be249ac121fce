"""Candidate text as mutation operators see it: where the C++ stands, and what of it is code.

A light tokeniser, no parser: comments, strings and includes are blanked out, everything keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_RAW = re.compile(r'r"""(.*?)"""', re.DOTALL)
_NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^[ ]*\#[ ]*include[^\n]*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_FOR_HEADER = re.compile(r"for \([^;{]*;[^;{]*;[^;{\n]*?\)(?= |\n)")


@dataclass(frozen=True)
class Edit:
    """One replacement in a text; `helper` is put before the text."""

    start: int
    stop: int
    new: str
    helper: str = ""

    def applied(self, text: str) -> str:
        return self.helper + text[: self.start] + self.new + text[self.stop :]


def native_parts(source: str) -> Iterator[tuple[int, str]]:
    """Every piece of C++ in a candidate, with its place."""
    for match in _RAW.finditer(source):
        if 'extern "C"' in match[1]:
            yield match.start(1), match[1]


def blanked(text: str) -> str:
    """The text with everything that is no code replaced by blanks of the same length."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def python_only(source: str) -> str:
    """A candidate with its C++ blanked out."""
    return _RAW.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def without_native(source: str) -> str:
    """A candidate with its C++ taken out."""
    return _RAW.sub("", source)


def in_brackets(code: str) -> list[bool]:
    """For every character, whether it stands inside `[...]`."""
    depth, found = 0, []
    for character in code:
        depth -= character == "]"
        found.append(depth > 0)
        depth += character == "["
    return found


def in_headers(code: str) -> list[bool]:
    """For every character, whether it stands in the header of a `for` loop or in a pragma."""
    found = [False] * len(code)
    for match in (*_FOR_HEADER.finditer(code), *re.finditer(r"#pragma[^\n]*", code)):
        found[match.start() : match.end()] = [True] * (match.end() - match.start())
    return found
