"""`kernelwright init`: write a task that already runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kernelwright.tasks import write_template

HELP = "Write a task folder that already runs, with a first candidate beside it."


def run(directory: Annotated[Path, typer.Argument(help="Where to write it; made if it is not there.")]) -> None:
    console = Console(highlight=False)
    for path in write_template(directory):
        console.print(f"wrote {path}", soft_wrap=True)
    console.print(f"[bold]Next:[/] kernelwright eval {directory} {directory / 'candidate.py'}", soft_wrap=True)
