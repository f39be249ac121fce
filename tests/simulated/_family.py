"""A family of kernels: every way that a few questions about a kernel can be answered, as text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

Answers = Mapping[str, str]

# What goes wrong where a member is broken: it does not compile, or it forgets a part of the sum.
SLIPS = ("typo", "wrong")
_REMARK = re.compile(r"^// attempt .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Member:
    """One kernel: an answer to every question, and whether something slipped."""

    answers: tuple[str, ...]
    broken: bool = False

    @property
    def key(self) -> str:
        return "/".join(self.answers) + ("!" if self.broken else "")

    @property
    def mended(self) -> Member:
        return Member(self.answers)


@dataclass(frozen=True, eq=False)
class Family:
    """All members for one task.

    Args:
        choices: The possible answers to each question, the plainest first, each a step further than the one before.
        write: The candidate with these answers.
        slip: The same text with something gone wrong, of this kind.
        makes_sense: Whether answers go together.
        asked_of: Questions that are asked of one way only: which answer to which other question that is. Elsewhere
            their answer is the plainest.
        visited: Too many to judge them all: only those are judged that searches meet.
    """

    name: str
    task: Path
    choices: Mapping[str, tuple[str, ...]]
    write: Callable[[Answers], str]
    slip: Callable[[str, str], str]
    makes_sense: Callable[[Answers], bool] = lambda answers: True
    asked_of: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    visited: bool = False

    def answers(self, member: Member) -> dict[str, str]:
        return dict(zip(self.choices, member.answers, strict=True))

    def member(self, answers: Answers) -> Member | None:
        """None where answers do not go together."""
        if self.settled(answers) != answers or not self.makes_sense(answers):
            return None
        return Member(tuple(answers[name] for name in self.choices))

    def asked(self, answers: Answers) -> list[str]:
        """The questions that these answers leave to be asked."""
        return [name for name in self.choices if self._is_asked(name, answers)]

    def _is_asked(self, name: str, answers: Answers) -> bool:
        other, wanted = self.asked_of.get(name, (name, answers[name]))
        return answers[other] == wanted

    def settled(self, answers: Answers) -> dict[str, str]:
        """What is not asked any more is forgotten: whoever comes back to it begins plainly."""
        return {
            name: answers[name] if self._is_asked(name, answers) else values[0] for name, values in self.choices.items()
        }

    def begun(self, one: Member, other: Member) -> Member:
        """The first of the two, gone over to the other's way and written plainly there."""
        goes = {name: self.answers(other)[name] for name, _ in self.asked_of.values()}
        return Member(tuple(self.settled(self.answers(one) | goes).values()))

    def changes(self, one: Member, other: Member) -> int:
        """How many answers are given anew on the way from one to the other."""
        ways = {name for name, _ in self.asked_of.values()}
        over = sum(self.answers(one)[name] != self.answers(other)[name] for name in ways)
        begun = self.begun(one, other).answers
        return over + sum(mine != its for mine, its in zip(begun, other.answers, strict=True))

    def steps(self, member: Member) -> int:
        """How far it is from the plainest kernel of all."""
        return sum(values.index(one) for values, one in zip(self.choices.values(), member.answers, strict=True))

    @cached_property
    def whole(self) -> list[Member]:
        """Those that are right."""
        every = (dict(zip(self.choices, values, strict=True)) for values in product(*self.choices.values()))
        return [member for answers in every if (member := self.member(answers))]

    def __iter__(self) -> Iterator[Member]:
        """Every member, the broken ones last."""
        yield from self.whole
        yield from (Member(member.answers, broken=True) for member in self.whole)

    def source(self, member: Member, remark: str = "") -> str:
        """The candidate's text; a remark makes it another text of the same kernel."""
        text = self.write(self.answers(member))
        if member.broken:
            text = self.slip(text, _slip_of(member))
        return text.replace('extern "C"', f'// attempt {remark}\nextern "C"', 1) if remark else text

    @cached_property
    def _known(self) -> dict[bytes, Member]:
        return {_known_by(self.source(member)): member for member in self}

    def find(self, source: str) -> Member | None:
        """Which member a text is, whatever was remarked in it; None where it is none."""
        return self._known.get(_known_by(source))

    def recognised(self, source: str) -> Member:
        found = self.find(source)
        if found is None:
            raise ValueError(f"this is no member of {self.name}:\n{source}")
        return found


def _known_by(source: str) -> bytes:
    """A text without remarks, short enough to remember thousands."""
    return hashlib.sha256(_REMARK.sub("", source).strip().encode()).digest()


def _slip_of(member: Member) -> str:
    """Which mistake is made in it: always the same one."""
    return SLIPS[hashlib.sha256(member.key.encode()).digest()[0] % len(SLIPS)]


def hinted(text: str, simd: bool) -> str:
    """A text in which `SIMD(...)` stands for a hint: as the compiler knows it, or without."""
    lines = []
    for line in text.splitlines(keepends=True):
        if not line.strip().startswith("SIMD("):
            lines.append(line)
        elif simd:
            inside = line.strip().removeprefix("SIMD(").removesuffix(")")
            lines.append(line[: len(line) - len(line.lstrip())] + f"#pragma omp simd {inside}".rstrip() + "\n")
    return "".join(lines)
