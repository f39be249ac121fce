"""Fenced blocks of an answer, as models really write them.

A block ends at the first closing fence behind which its text is valid Python, so that fences inside strings and
docstrings do not cut it short; where no closing fence makes it so, at the first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from kernelwright.propose._python import tree_of

_OPENING = re.compile(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([^`\n]*)")
_FILE_NAME = re.compile(r"[\w./-]*\w\.(?:py|cu|cuh|cpp|cc|cxx|h|hpp|txt|md|json|toml|sh)\b")
# Closing fences that are tried: enough for any kernel with examples in its comments, and an end to hostile texts.
TRIED = 12
_PYTHON = frozenset({"", "python", "py", "python3", "triton", "pytorch"})


@dataclass(frozen=True)
class Block:
    """Text between fences. `info`: what stood behind the first; `name`: the file it may be; `closed`: not cut off."""

    text: str
    info: str
    name: str
    closed: bool

    @property
    def is_python(self) -> bool:
        return self.name.endswith(".py") or self.language in _PYTHON

    @property
    def language(self) -> str:
        return _language(self.info)


def _language(info: str) -> str:
    return re.split(r"[\s:{,=]", info.strip().lower(), maxsplit=1)[0]


def blocks(answer: str) -> list[Block]:
    """In the order of the answer."""
    return list(_blocks(answer.split("\n")))


def _blocks(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        opening = _OPENING.fullmatch(lines[at])
        if not opening:
            at += 1
            continue
        end = _end(lines, at, opening)
        inside = _outdented(lines[at + 1 : end], opening[1])
        yield Block(inside, opening[3].strip(), _name(lines, at, opening[3], inside), end < len(lines))
        at = end + 1


def _end(lines: list[str], start: int, opening: re.Match[str]) -> int:
    """The line of the closing fence; the number of lines if there is none."""
    closings = list(islice(_closings(lines, start, opening[2]), TRIED))
    if _language(opening[3]) in _PYTHON and len(closings) > 1:
        for end in closings:
            if tree_of(_outdented(lines[start + 1 : end], opening[1])) is not None:
                return end
    return closings[0] if closings else len(lines)


def _closings(lines: list[str], start: int, fence: str) -> Iterator[int]:
    closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    return (at for at in range(start + 1, len(lines)) if closing.fullmatch(lines[at]))


def _outdented(lines: list[str], prefix: str) -> str:
    """Without what stands before the fence itself: a list's indentation, a quotation's mark."""
    return "\n".join(line.removeprefix(prefix) if prefix else line for line in lines)


def _name(lines: list[str], at: int, info: str, inside: str) -> str:
    """The file that a block is said to be: behind the fence, in the line above, or in a comment on its first line."""
    above = next((line for line in reversed(lines[max(0, at - 2) : at]) if line.strip()), "")
    first = inside.split("\n", 1)[0]
    for text in (info, first if re.match(r"\s*(?:#|//|/\*)", first) else "", _heading(above)):
        found = _FILE_NAME.search(text)
        if found:
            return found[0].rpartition("/")[2]
    return ""


def _heading(line: str) -> str:
    """A line that names a file and says little else; a sentence that mentions one is not a heading."""
    words = line.strip(" \t#*`:_")
    return words if len(words.split()) <= 3 else ""
