"""A quality file written down for people: how many problems are weak, why, and which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kernelwright.report._markdown import markdown_table

STATUSES = ("clean", "flagged", "unjudged")


@dataclass(frozen=True)
class Audited:
    """What was found out about one problem (or one variant), in some numbers."""

    problem: str
    title: str
    numbers: str
    status: str
    flags: tuple[str, ...]
    nulls: tuple[str, ...]
    reason: str

    @property
    def part(self) -> str:
        return self.problem.rpartition("/")[0]


def quality_page(suite: str, source: str, audited: list[Audited], flaws: Mapping[str, str]) -> str:
    """`source`: a sentence that says of which version, when and where; `flaws`: what each flag means."""
    page = _Page(suite, audited)
    parts = [
        f"# Which problems of {suite} can tell a kernel from none",
        f"{source} `kernelwright suites quality {suite}` writes this page from the file that comes with the package. "
        "*As given*: in the numbers that a problem draws itself. In another dtype: model and inputs cast as a whole. "
        "What has no row, or an empty cell, has not been tried yet. "
        "[suites.md](suites.md) says how problems are tried and what becomes of weak ones.",
        "## How many",
        page.counts(),
        "## What is wrong with them",
        page.flags(flaws),
        "## Which answers pass that take no work",
        page.nulls(),
        *page.unjudged(),
        "## Every problem",
        page.problems(),
    ]
    return "\n\n".join(parts) + "\n"


class _Page:
    """The tables of a page: one column for each kind of numbers that problems were tried in."""

    def __init__(self, suite: str, audited: list[Audited]) -> None:
        self._suite, self._audited = suite, audited
        self._numbers = list(dict.fromkeys(entry.numbers for entry in audited))

    def counts(self) -> str:
        parts = list(dict.fromkeys(entry.part for entry in self._audited))
        rows = [self._count(part, numbers) for part in parts for numbers in self._numbers]
        rows += [self._count("", numbers) for numbers in self._numbers if len(parts) > 1]
        return markdown_table(["problems", "numbers", "tried", *STATUSES], rows)

    def _count(self, part: str, numbers: str) -> list[str]:
        """Of one part, or of all where none is named."""
        mine = [entry for entry in self._audited if entry.numbers == numbers and part in ("", entry.part)]
        counts = Counter(entry.status for entry in mine)
        name = f"{self._suite}:{part}" if part else "all"
        return [name, numbers, str(len(mine)), *(str(counts[status]) for status in STATUSES)]

    def flags(self, flaws: Mapping[str, str]) -> str:
        counts = Counter((flag, entry.numbers) for entry in self._audited for flag in entry.flags)
        rows = [[f"`{flag}`", meaning, *self._across(counts, flag)] for flag, meaning in flaws.items()]
        return markdown_table(["flag", "meaning", *self._numbers], rows)

    def nulls(self) -> str:
        counts = Counter((null, entry.numbers) for entry in self._audited for null in entry.nulls)
        often = Counter(null for entry in self._audited for null in entry.nulls)
        rows = [[null, *self._across(counts, null)] for null, _ in often.most_common()]
        return markdown_table(["answer", *self._numbers], rows) if rows else "None."

    def _across(self, counts: Counter[tuple[str, str]], name: str) -> list[str]:
        return [str(counts[name, numbers]) for numbers in self._numbers]

    def unjudged(self) -> list[str]:
        """The problems that could not be tried, and why."""
        heading = ["problem", "title", "numbers", "reason"]
        left = [entry for entry in self._audited if entry.status == "unjudged"]
        rows = [[entry.problem, entry.title, entry.numbers, entry.reason] for entry in left]
        return ["## What could not be tried", markdown_table(heading, rows)] if rows else []

    def problems(self) -> str:
        cells = {(entry.problem, entry.numbers): ", ".join(entry.flags) or entry.status for entry in self._audited}
        titles = {entry.problem: entry.title for entry in self._audited}
        rows = [[key, title, *(cells.get((key, n), "") for n in self._numbers)] for key, title in titles.items()]
        return markdown_table(["problem", "title", *self._numbers], rows)
