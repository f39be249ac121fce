"""Machine code that a driver writes into memory from a program it was given, and how to know it again there.

A compiled SYCL program holds an object file. The driver copies its code into memory without a name and fills in the
addresses. Code is the candidate's own if it is, byte for byte but for those addresses, what the judge compiled for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

OBJECT_SECTION = b".ocl.obj"
HEADER, SECTION, RELOCATION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<QQq")
MAGIC = b"\x7fELF\x02\x01"
PROGBITS, RELA, RELOCATABLE, EXECUTABLE = 1, 4, 1, 4
# Bytes that a relocation fills in: eight for these types (64, PC64, GOTOFF64, TPOFF64, RELATIVE and the like).
WIDE = frozenset({1, 16, 17, 18, 24, 25, 27, 28, 29, 30, 31})
SHORTEST_ANCHOR = 12
# What a program made from hostile text may cost the judge. Beyond that its code is not known again, to its own harm.
LARGEST_PROGRAM, MOST_SECTIONS, MOST_LOOKS = 16 << 20, 64, 64


@dataclass(frozen=True)
class _Section:
    name: bytes
    kind: int
    flags: int
    content: bytes
    about: int


@dataclass(frozen=True, eq=False)
class Code:
    """One section of code. `fixed`: which bytes no loader changes; `anchor`: the longest run of such, and where."""

    content: npt.NDArray[np.uint8]
    fixed: npt.NDArray[np.bool_]
    anchor: bytes
    anchor_at: int

    def found_in(self, memory: bytes) -> Iterator[tuple[int, int]]:
        """The stretches of memory that are this code."""
        at = -1
        for _ in range(MOST_LOOKS):
            at = memory.find(self.anchor, at + 1)
            if at < 0:
                return
            start = at - self.anchor_at
            if self._stands_at(memory, start):
                yield start, start + len(self.content)

    def _stands_at(self, memory: bytes, start: int) -> bool:
        if start < 0 or start + len(self.content) > len(memory):
            return False
        there = np.frombuffer(memory, np.uint8, len(self.content), start)
        return bool(np.array_equal(there[self.fixed], self.content[self.fixed]))


def codes_of(program: bytes) -> list[Code]:
    """The code of a driver's program; none where it has another form."""
    if len(program) > LARGEST_PROGRAM:
        return []
    try:
        inner = next(section.content for section in _sections(program) if section.name == OBJECT_SECTION)
        sections = list(_sections(inner))
        relocations = [section for section in sections if section.kind == RELA]
        return [
            code
            for index, section in enumerate(sections)
            if section.kind == PROGBITS and section.flags & EXECUTABLE and section.content
            for code in _code(section.content, [r.content for r in relocations if r.about == index])
        ]
    except (StopIteration, struct.error, ValueError, IndexError, OverflowError):
        return []


def _sections(file: bytes) -> Iterator[_Section]:
    fields = HEADER.unpack_from(file)
    if not fields[0].startswith(MAGIC):
        raise ValueError("not an object file")
    table, number, names = fields[6], min(fields[12], MOST_SECTIONS), fields[13]
    heads = [SECTION.unpack_from(file, table + index * SECTION.size) for index in range(number)]
    words = _content(file, heads[names])
    for head in heads:
        name = words[head[0] : words.index(b"\0", head[0])]
        yield _Section(name, head[1], head[2], _content(file, head), head[7])


def _content(file: bytes, head: tuple[int, ...]) -> bytes:
    return file[head[4] : head[4] + head[5]]


def _code(content: bytes, relocations: list[bytes]) -> Iterator[Code]:
    fixed = np.ones(len(content), dtype=np.bool_)
    for offset, info, _ in (entry for table in relocations for entry in RELOCATION.iter_unpack(table)):
        fixed[offset : offset + (8 if info & 0xFFFFFFFF in WIDE else 4)] = False
    start, stop = _longest_run(fixed)
    if stop - start >= SHORTEST_ANCHOR:
        yield Code(np.frombuffer(content, np.uint8), fixed, content[start:stop], start)


def _longest_run(fixed: npt.NDArray[np.bool_]) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], fixed.view(np.int8), [0]))))
    runs = edges.reshape(-1, 2)
    if not len(runs):
        return 0, 0
    start, stop = runs[int(np.argmax(runs[:, 1] - runs[:, 0]))]
    return int(start), int(stop)
