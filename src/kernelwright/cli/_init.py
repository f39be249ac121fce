"""`kernelwright init`: write a task that already runs, or one for a project that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._failure import UsageError
from kernelwright.tasks import write_project, write_template

HELP = "Write a task folder that already runs, or with --project a task.toml for a project that is there."


def run(
    directory: Annotated[Path | None, typer.Argument(help="Where to write it; made if it is not there.")] = None,
    project: Annotated[
        Path | None, typer.Option("--project", help="A project: look at it, and write its task.toml.")
    ] = None,
    function: Annotated[
        str | None, typer.Option("--function", help="With --project: mark this function as what may be rewritten.")
    ] = None,
) -> None:
    console = Console(highlight=False)
    if project is not None and directory is None:
        _write_project(console, project, function)
    elif directory is not None and project is None and function is None:
        _write_template(console, directory)
    else:
        raise UsageError(
            "init writes one thing at a time", "kernelwright init DIR, or kernelwright init --project PATH"
        )


def _write_template(console: Console, directory: Path) -> None:
    for path in write_template(directory):
        console.print(f"wrote {path}", soft_wrap=True)
    console.print(f"[bold]Next:[/] kernelwright eval {directory} {directory / 'candidate.py'}", soft_wrap=True)


def _write_project(console: Console, root: Path, function: str | None) -> None:
    path, found = write_project(root, function)
    console.print(f"wrote {escape(str(path))}", soft_wrap=True)
    for name in ("build", "test", "benchmark"):
        missing = "nothing to build was found" if name == "build" else "[yellow]not found: fill it in[/]"
        console.print(f"  {name:<10} {escape(getattr(found.commands, name)) or missing}", soft_wrap=True)
    if found.marked:
        console.print(f"  regions    in {escape(', '.join(found.marked))}", soft_wrap=True)
        console.print(f"[bold]Next:[/] kernelwright eval {root} CANDIDATE, the new text of a region", soft_wrap=True)
        return
    console.print("  functions that may be worth it:")
    for one in found.functions:
        console.print(f"    {escape(f'{one.file}:{one.first}  {one.name}: {one.why}')}", soft_wrap=True)
    console.print(
        "[bold]Next:[/] mark what may be rewritten: `EVOLVE begin NAME` above it and `EVOLVE end` below, in comments",
        soft_wrap=True,
    )
