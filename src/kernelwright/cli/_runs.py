"""`kernelwright runs`, `show`: what searches have found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.archive import Cell, Entry
from kernelwright.cli._failure import UsageError
from kernelwright.cli._resume import RunArgument
from kernelwright.cli._search import LETTERS, STORE, StoreOption, sentences
from kernelwright.config import brief, stored
from kernelwright.engine import archive_of, elites_by_device, unjudged_by_device
from kernelwright.store import Place, Records, Run

HELP = "List the searches that a store holds."
SHOW_HELP = "Show what a search has found, cell by cell, why candidates failed, and its configuration."


def run(store: StoreOption = STORE) -> None:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("run", "best over baseline"):
        table.add_column(heading, no_wrap=True)
    for heading in ("task", "state", "judged", "spent"):
        table.add_column(heading, overflow="fold")
    with sentences(), Records(store) as records:
        for one in records.runs():
            table.add_row(*map(escape, _row(records, one)))
    Console(highlight=False).print(table)


def _row(records: Records, one: Run) -> list[str]:
    spent, best = records.spent(one.id), reported(records, one.id)
    wire = records.task(one.task) or {}
    money = f"${spent.dollars:.2f}" + (f" and {spent.unpriced} unpriced" if spent.unpriced else "")
    state = "interrupted" if one.state == "running" and records.writer(one.id) is None else str(one.state)
    tokens = f"{spent.tokens_in + spent.tokens_out} tokens"
    return [one.id, in_words(best), str(wire.get("name", "")), state, str(spent.evaluations), f"{tokens}, {money}"]


def show(
    name: RunArgument,
    store: StoreOption = STORE,
    by_device: Annotated[bool, typer.Option("--by-device", help="Which idea wins on which device.")] = False,
) -> None:
    console = Console(highlight=False)
    if by_device:
        _show_devices(console, name, store)
        return
    with sentences(), Records(store) as records:
        one = records.run(name)
        archive, told = archive_of(records, one.id), records.final(one.id)
        best = reported(records, one.id)
        over = "over the original" if (records.task(one.task) or {}).get("project") else "over eager"
        statuses = Counter(judged.status for judged in records.verdicts(one.id))
    console.print(f"[bold]{escape(one.id)}[/] {one.state} {escape(one.reason)}", soft_wrap=True)
    console.print("  " + ", ".join(f"{number} {status}" for status, number in statuses.most_common()))
    for line in brief(stored(one.settings)) if one.settings.get("config") else []:
        console.print(f"  {escape(line)}", soft_wrap=True)
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("memory", "algorithm", "coordination", over, "kernel"):
        table.add_column(heading)
    for elite in sorted(archive.elites.values(), key=lambda elite: -elite.log_speedup):
        table.add_row(*map(str, elite.cell), in_words(elite), elite.candidate[:LETTERS])
    console.print(table)
    console.print(f"{len(archive.elites)} of 64 cells filled, QD score {archive.qd_score:.2f}")
    if told is not None:
        held = f"{best.candidate[:LETTERS]}, {in_words(best)}" if best else "no kernel held"
        console.print(f"measured once more at the end: {held}", soft_wrap=True)


def _show_devices(console: Console, name: str, store: Place) -> None:
    """A row for each cell, a column for each device; the best of a device is marked."""
    with sentences(), Records(store) as records:
        one = records.run(name)
        found = elites_by_device(records, one.id)
        unjudged = unjudged_by_device(records, one.id)
    if not found:
        fix = "name them when a run begins, `kernelwright optimize ... --devices A,B`, or in task.toml: targets = [...]"
        raise UsageError(f"run {one.id} names no devices", fix)
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("memory", "algorithm", "coordination", *found):
        table.add_column(heading, overflow="fold")
    for cell in sorted({cell for elites in found.values() for cell in elites}):
        table.add_row(*map(str, cell), *(_on_device(elites, cell) for elites in found.values()))
    console.print(table)
    for device, elites in found.items():
        best = max(elites.values(), key=lambda elite: elite.log_speedup, default=None)
        said = f"{best.candidate[:LETTERS]}, {in_words(best)}" if best else "nothing accepted"
        console.print(f"{escape(device)}: best {said}; {len(elites)} of 64 cells filled", soft_wrap=True)
        if device in unjudged:
            console.print(f"  not everything was judged there: {escape(unjudged[device])}", soft_wrap=True)


def _on_device(elites: Mapping[Cell, Entry], cell: Cell) -> str:
    if cell not in elites:
        return "--"
    text = f"{in_words(elites[cell])} {elites[cell].candidate[:LETTERS]}"
    best = max(elite.log_speedup for elite in elites.values())
    return f"[bold]{escape(text)} *[/]" if elites[cell].log_speedup == best else escape(text)


def reported(records: Records, run: str) -> Entry | None:
    """The best kernel as it was measured at the end, or the best so far."""
    told = records.final(run)
    if told is None:
        return archive_of(records, run).best
    return Entry.from_json(told["entry"]) if told["candidate"] else None


def in_words(entry: Entry | None) -> Any:
    if entry is None:
        return "none accepted"
    return f"{entry.speed} [{math.exp(entry.low):.2f}, {math.exp(entry.high):.2f}]"
