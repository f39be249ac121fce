"""What the demo shows: the table against both baselines, losers included, an archive, and a certificate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._moments import plain, short
from kernelwright.cli._screen import archive_picture, duration
from kernelwright.engine import Found, Winner
from kernelwright.tasks import Task

Interval = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What came of one fusion. `why`: why there is no kernel, where there is none."""

    words: str
    task: Task
    judged: int = 0
    found: Found | None = None
    why: str = ""

    @property
    def winner(self) -> Winner | None:
        return self.found.winner if self.found else None

    def over(self, baseline: str) -> Interval | None:
        found: Interval | None = self.winner.verdict["speedup"].get(baseline) if self.winner else None
        return found

    @property
    def in_words(self) -> str:
        if self.winner is None:
            return f"no kernel: {plain(self.why)}"
        return f"{_times(self.over('eager'))} over eager, {_times(self.over('compile'))} over torch.compile"


def show(console: Console, rows: Sequence[Row], folder: Path, seconds: float) -> None:
    console.print(_table(rows))
    for sentence in _sentences(rows):
        console.print(sentence)
    won = [row for row in rows if row.winner]
    if not won:
        return
    _show_archive(console, max(won, key=lambda row: len(row.found.archive.elites) if row.found else 0))
    _show_certificate(console, max(won, key=_worth), folder)
    searched = sum(row.judged > 0 for row in rows)
    console.print(f"\n{searched} searches in {duration(seconds)}, no model, no key, no GPU.")
    console.print("[bold]Next:[/] kernelwright init my-task; kernelwright optimize my-task")


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))  # five columns in eighty letters
    for heading in ("fusion", "ms", "over eager", "over torch.compile", "judged"):
        table.add_column(heading, no_wrap=True, justify="right" if heading in ("ms", "judged") else "left")
    for row in rows:
        time = f"{row.winner.verdict['time_ms']['candidate']:.3g}" if row.winner else ""
        cells = [_coloured(row.over(name)) for name in ("eager", "compile")]
        table.add_row(row.words, time, *(cells if row.winner else ["[red]no kernel[/]", ""]), str(row.judged))
    return table


def _times(found: Interval | None) -> str:
    return f"{found['ratio']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]" if found else "not timed"


def _coloured(found: Interval | None) -> str:
    colour = {"ahead": "green", "behind": "red"}.get(_standing(found), "yellow")
    return f"[{colour}]{escape(_times(found))}[/]"


def _standing(found: Interval | None) -> str:
    """Sure only where the whole interval is on one side."""
    if found is None:
        return "not timed"
    return "ahead" if found["low"] > 1 else "behind" if found["high"] < 1 else "unclear"


def _worth(row: Row) -> float:
    """How far it is ahead of the better baseline."""
    found = [row.over(name) for name in ("eager", "compile")]
    return min((math.log(one["low"]) for one in found if one), default=-math.inf)


# In words


def _sentences(rows: Sequence[Row]) -> list[str]:
    said = [_said(rows, name, words) for name, words in (("eager", "eager PyTorch"), ("compile", "torch.compile"))]
    said += [f"[bold]{row.words}[/]: no kernel: {escape(plain(row.why))}" for row in rows if row.winner is None]
    return [*said, "95 % intervals, each winner measured once more by a judge with new secret inputs."]


def _said(rows: Sequence[Row], baseline: str, words: str) -> str:
    groups: dict[str, list[str]] = {"ahead": [], "behind": [], "unclear": []}
    for row in rows:
        if row.winner:
            groups.setdefault(_standing(row.over(baseline)), []).append(row.words)
    ahead = f"Against {words}: {len(groups.pop('ahead'))} of {len(rows)} clearly ahead"
    return "; ".join([ahead, *(f"{name}: {', '.join(which)}" for name, which in groups.items() if which)]) + "."


# Picture and proof


def _show_archive(console: Console, row: Row) -> None:
    assert row.found is not None
    assert row.winner is not None
    elites = {cell: math.exp(elite.log_speedup) for cell, elite in row.found.archive.elites.items()}
    console.print(f"\n[bold]The archive of {row.words}[/], by strategy: docs/descriptors.md")
    for line in archive_picture(elites, row.winner.entry.cell):
        console.print(line)


def _show_certificate(console: Console, row: Row, folder: Path) -> None:
    assert row.winner is not None
    verdict: Mapping[str, Any] = row.winner.verdict
    check = verdict["evidence"]["check"]
    path = folder / f"{row.task.name}.json"
    console.print(f"\n[bold]A certificate[/] {escape(str(path))}", soft_wrap=True)
    lines = {
        "task": f"{row.task.name} {short(row.task.hash)}, kernel {short(row.winner.candidate)}",
        "claim": f"{verdict['status']}, {row.in_words}",
        "checked": f"{check['calls']} calls on {len(check['trials'])} trials, "
        f"{check['error_budget_used']:.0%} of the error budget used",
        "on": str(verdict["machine"].get("cpu", "")),
        "check it": f"kernelwright verify {path}",
    }
    for name, text in lines.items():
        console.print(f"  [dim]{name:<9}[/]{escape(plain(text))}", soft_wrap=True)
