"""SEARCH/REPLACE edits: found in an answer, made on a text.

Used for kernels and for advice alike. An edit is made only where it fits in one place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

_SEARCH = re.compile(r"([ \t]*)<{5,9}[ \t]*SEARCH\b(.*)")
_DIVIDER = re.compile(r"[ \t]*={5,9}[ \t]*")
_REPLACE = re.compile(r"[ \t]*>{5,9}[ \t]*REPLACE\b.*")
# How much of a text that was not found is quoted.
QUOTED = 60


@dataclass(frozen=True)
class Edit:
    """Lines to find and lines to put there. `name`: what stood behind SEARCH, such as a file or region."""

    search: str
    replace: str
    name: str = ""

    def __str__(self) -> str:
        words = " ".join(self.search.split())
        return repr(words[:QUOTED] + "..." if len(words) > QUOTED else words)


class MisfitError(Exception):
    """An edit that fits nowhere, or in several places; the message is a sentence."""


def find_edits(answer: str) -> list[Edit]:
    """The complete edits of an answer, in its order."""
    return list(_edits(answer.split("\n")))


def has_edits(answer: str) -> bool:
    """Whether an edit begins in it, complete or not."""
    return any(_SEARCH.fullmatch(line) for line in answer.split("\n"))


def _edits(lines: list[str]) -> Iterator[Edit]:
    opening: re.Match[str] | None = None
    search: list[str] = []
    replace: list[str] | None = None
    for line in lines:
        found = _SEARCH.fullmatch(line)
        if found:
            opening, search, replace = found, [], None
        elif opening is None:
            continue
        elif replace is None and _DIVIDER.fullmatch(line):
            replace = []
        elif replace is not None and _REPLACE.fullmatch(line):
            yield _edit(opening, search, replace)
            opening = None
        else:
            (search if replace is None else replace).append(line)


def _edit(opening: re.Match[str], search: list[str], replace: list[str]) -> Edit:
    indent = len(opening[1])
    name = opening[2].strip("`*: ")
    return Edit(_outdented(search, indent), _outdented(replace, indent), name)


def _outdented(lines: list[str], indent: int) -> str:
    """Without the indentation that the markers themselves have, where every line has it."""
    inside = all(not line.strip() or line.startswith(" " * indent) for line in lines)
    return "\n".join(line[indent:] if inside else line for line in lines)


def make_edit(text: str, edit: Edit) -> str:
    """The text with the edit made; raises MisfitError.

    By whole lines as they are quoted; else with one indentation for all lines put right; else as a part of a line.
    """
    if not edit.search.strip():
        raise MisfitError("an edit has an empty SEARCH part.")
    for fits in (_by_lines, _shifted, _inside):
        made = list(islice(fits(text, edit), 2))
        if len(made) > 1:
            raise MisfitError(f"the text of an edit stands in more than one place: {edit}.")
        if made:
            return made[0]
    raise MisfitError(f"the text of an edit does not stand there: {edit}.")


def _by_lines(text: str, edit: Edit) -> Iterator[str]:
    lines, wanted = text.split("\n"), [line.rstrip() for line in _lines(edit.search)]
    for start in range(len(lines) - len(wanted) + 1):
        if [line.rstrip() for line in lines[start : start + len(wanted)]] == wanted:
            yield "\n".join([*lines[:start], *_lines(edit.replace), *lines[start + len(wanted) :]])


def _shifted(text: str, edit: Edit) -> Iterator[str]:
    lines, wanted = text.split("\n"), [line.strip() for line in _lines(edit.search)]
    for start in range(len(lines) - len(wanted) + 1):
        there = lines[start : start + len(wanted)]
        if [line.strip() for line in there] != wanted:
            continue
        shift = _shift(there, _lines(edit.search))
        if shift is not None:
            new = [_moved(line, shift) for line in _lines(edit.replace)]
            yield "\n".join([*lines[:start], *new, *lines[start + len(wanted) :]])


def _shift(there: list[str], quoted: list[str]) -> int | None:
    """By how many columns all quoted lines are off; None if not all by the same."""
    offsets = {_indent(a) - _indent(b) for a, b in zip(there, quoted, strict=True) if b.strip()}
    return offsets.pop() if len(offsets) == 1 else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _moved(line: str, shift: int) -> str:
    if not line.strip():
        return line
    return " " * shift + line if shift >= 0 else line[min(-shift, _indent(line)) :]


def _lines(text: str) -> list[str]:
    """Lines without the empty ones around them."""
    return text.strip("\n").split("\n") if text.strip("\n") else []


def _inside(text: str, edit: Edit) -> Iterator[str]:
    wanted = edit.search.strip()
    start = text.find(wanted)
    while start >= 0:
        yield text[:start] + edit.replace.strip() + text[start + len(wanted) :]
        start = text.find(wanted, start + 1)
