"""`kernelwright suites`: which suites there are on this machine, public ones and our own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.tasks import TaskError
from kernelwright.tasks.suites import VARIABLE, Suite, find_suites

HELP = "List the suites found on this machine; `suites audit` says which of their problems can be trusted."

SuiteDirOption = Annotated[
    Path | None,
    typer.Option(
        "--suite-dir", help=f"A checkout, a dataset file, or a folder that holds some; else ${VARIABLE} is used."
    ),
]


def run(context: typer.Context, suite_dir: SuiteDirOption = None) -> None:
    context.obj = suite_dir
    if context.invoked_subcommand is not None:
        return
    suites = find_suites(suite_dir)
    if not suites:
        fix = f"clone KernelBench or robust-kbench, then say --suite-dir FOLDER or set {VARIABLE}"
        raise TaskError("no suite was found on this machine", str(suite_dir or ""), fix)
    console = Console(highlight=False)
    console.print(_table(suites))
    console.print(f"[bold]Next:[/] kernelwright bench {suites[0].name} --solutions DIR", soft_wrap=True)


def _table(suites: list[Suite]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("suite", "problems", "parts", "version", "where"):
        table.add_column(heading)
    for index, suite in enumerate(suites):
        used = suite.name not in [earlier.name for earlier in suites[:index]]
        name = suite.name if used else f"{suite.name} (not used: another comes first)"
        table.add_row(name, *_contents(suite), suite.version or "unknown", escape(str(suite.root)))
    return table


def _contents(suite: Suite) -> tuple[str, str]:
    """How many problems, and in which parts; or why that cannot be said."""
    try:
        parts = ", ".join(f"{part}: {count}" for part, count in suite.groups().items())
        return str(len(suite.problems)), escape(parts)
    except TaskError as error:
        return "unreadable", escape(f"{error.what} {error.fix}")
