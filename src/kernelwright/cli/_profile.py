"""`kernelwright profile`: why a right kernel is as fast as it is, and what to try next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kernelwright.cli._eval import REJECTED, CandidateArgument, LimitOption, SetOption, TaskArgument, limits_from
from kernelwright.cli._failure import assignments, read_text, write_text
from kernelwright.cli._profile_screen import render
from kernelwright.cli._render import render as render_verdict
from kernelwright.judge import Judge, Verdict, profile
from kernelwright.tasks import load_task

HELP = (
    "Judge a candidate, then say what holds it back: time against the roofline, its compiled loops, its threads. "
    "Exit 0 profiled, 1 the candidate is rejected, 2 cannot judge."
)


def run(
    task: TaskArgument,
    candidate: CandidateArgument,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write facts, bottleneck and advice here.")] = None,
    constants: SetOption = None,
    limit: LimitOption = None,
) -> None:
    described = load_task(task, constants=assignments(constants or [], "--set"))
    source = read_text(candidate, "candidate")
    limits = limits_from(limit or [])
    console = Console(highlight=False)
    with Judge(limits=limits) as judge, console.status("judging and profiling ..."):
        found = profile(judge, described, source)
    if isinstance(found, Verdict):
        render_verdict(console, found, described.name, str(candidate))
        console.print("  A profile says why a right kernel is slow; this candidate is not accepted, so it has none.")
        raise typer.Exit(REJECTED)
    if json_file is not None:
        write_text(json_file, json.dumps(found.to_json(), indent=1) + "\n")
    render(console, found, described.name, str(candidate))
