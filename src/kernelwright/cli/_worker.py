"""`kernelwright worker spool`: judge what waits in a folder, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._failure import UsageError
from kernelwright.fleet import FleetError, judge_spool

HELP = "Judge for a search that runs elsewhere."
SPOOL_HELP = "Judge all jobs that wait in a spool folder, then exit. Exit 0 all judged, 2 something could not be."


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The DIR of the search's `--fleet spool/DIR`.")],
    watch: Annotated[bool, typer.Option("--watch", help="Wait for more when all is judged, until stopped.")] = False,
) -> None:
    console = Console(highlight=False)
    try:
        judge_spool(folder, watch=watch, say=lambda line: console.print(escape(line), soft_wrap=True))
    except FleetError as error:
        raise UsageError(error.what, error.fix) from error
