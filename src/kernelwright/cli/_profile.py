"""`kernelwright profile`: why a right kernel is as fast as it is, and what to try next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kernelwright.cli._eval import (
    REJECTED,
    CandidateArgument,
    LimitOption,
    SetOption,
    TaskArgument,
    fitted,
    limits_from,
)
from kernelwright.cli._failure import CANNOT_JUDGE, assignments, read_text, write_text
from kernelwright.cli._profile_screen import render
from kernelwright.cli._render import render as render_verdict
from kernelwright.cli._suites import SuiteDirOption
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
    mode: Annotated[str | None, typer.Option(help="Put the model in train or eval mode.")] = None,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink the task to this machine first.")] = False,
    limit: LimitOption = None,
    suite_dir: SuiteDirOption = None,
) -> None:
    described = load_task(task, constants=assignments(constants or [], "--set"), mode=mode, suite_dir=suite_dir)
    source = read_text(candidate, "candidate")
    limits = limits_from(limit or [])
    console = Console(highlight=False)
    with Judge(limits=limits) as judge:
        if fit_machine:
            described = fitted(judge, described, console)
        with console.status("judging and profiling ..."):
            found = profile(judge, described, source)
    if isinstance(found, Verdict):
        render_verdict(console, found, described.name, str(candidate))
        rejected = found.checked and not found.accepted
        why = "is not accepted" if rejected else "was not timed here"
        console.print(f"  A profile says why a right kernel is slow; this candidate {why}, so it has none.")
        raise typer.Exit(REJECTED if rejected else CANNOT_JUDGE)
    if json_file is not None:
        write_text(json_file, json.dumps(found.to_json(), indent=1) + "\n")
    render(console, found, described.name, str(candidate))
