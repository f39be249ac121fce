"""`kernelwright trace`: where a program spends its time, tasks for the spots worth it, what winners have gained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kernelwright.cli._failure import UsageError, write_text
from kernelwright.cli._search import STORE, StoreOption, sentences
from kernelwright.cli._trace_screen import render_check, render_operators, render_spots, render_tasks
from kernelwright.cli._winners import accepted
from kernelwright.judge import Judge
from kernelwright.trace import ROUNDS, Check, MeasuredRoof, Program, Ranked, Trace, TraceError, check, rank, trace
from kernelwright.trace import write_tasks as write_folders

HELP = (
    "Run a PyTorch program and say where a kernel would help: modules and operators by time, ranked by possible gain. "
    "Exit 0 something is worth a kernel (--check: the gain is shown), 1 nothing is (it is not), 2 cannot say."
)
# What this command does not know is the script's; after -- everything is.
CONTEXT = {"ignore_unknown_options": True}
NOT_SHOWN = 1
# Below this nobody would notice, nor could a check show it.
LEAST_GAIN = 0.01


def run(
    script: Annotated[Path, typer.Argument(help="Your program: it runs as you would run it.")],
    args: Annotated[list[str] | None, typer.Argument(help="Its own arguments; after -- also such as are ours.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write task folders here.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="So many spots are shown and written.")] = 5,
    operators: Annotated[
        bool, typer.Option("--operators/--no-operators", help="Run it once more, under torch's profiler.")
    ] = True,
    checked: Annotated[bool, typer.Option("--check", help="Measure the whole program with winners in it.")] = False,
    winners: Annotated[
        str | None, typer.Option("--with", help="Winners for --check: runs or certificates, comma-separated.")
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=3, help="Timed runs on each side of a check.")] = ROUNDS,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write what was found here.")] = None,
    store: StoreOption = STORE,
) -> None:
    console = Console(highlight=False)
    if checked != (winners is not None):
        missing = "--with RUN_OR_CERTIFICATE" if checked else "--check"
        raise UsageError("--check and --with belong together", f"add {missing}")
    with _spoken():
        program = Program(script, tuple(args or ()))
        if winners is not None:
            found = _checked(console, program, accepted(winners, store), rounds)
            _write_json(json_file, _check_json(found))
            raise typer.Exit(0 if found.shown and found.outputs.holds else NOT_SHOWN)
        _traced(console, program, out=out, top=top, operators=operators, json_file=json_file)


@contextmanager
def _spoken() -> Iterator[None]:
    try:
        with sentences():
            yield
    except TraceError as error:
        raise UsageError(error.what, error.fix) from error


def _traced(
    console: Console, program: Program, *, out: Path | None, top: int, operators: bool, json_file: Path | None
) -> None:
    found = trace(program, operators=operators)
    with Judge() as judge:
        ranked = rank(found.spots, found.seconds, MeasuredRoof(judge))
    _write_json(json_file, _trace_json(found, ranked))
    render_spots(console, found, ranked, top)
    render_operators(console, found, top)
    if not ranked:
        raise UsageError(
            f"{program.script} calls torch, but no module of torch.nn",
            "put the slow part into a torch.nn.Module, or make a task of it with kernelwright init",
        )
    worth = [one for one in ranked if not one.why_not and one.gain >= LEAST_GAIN]
    if not worth:
        console.print(_not_worth_it(ranked), soft_wrap=True)
        raise typer.Exit(NOT_SHOWN)
    if out is not None:
        render_tasks(console, write_folders(worth, out, top))
    else:
        console.print(f"[bold]Next:[/] kernelwright trace --out tasks {program.script}", soft_wrap=True)


def _not_worth_it(ranked: list[Ranked]) -> str:
    best = max((one.gain for one in ranked if not one.why_not), default=None)
    if best is None:
        reason = max(ranked, key=lambda one: one.gain)
        return f"No module can become a task. The one with most to gain, {reason.spot.name}: {reason.why_not}."
    return f"No module is worth a kernel: the best could make the program {best:.1%} faster, below {LEAST_GAIN:.0%}."


def _checked(console: Console, program: Program, chosen: Any, rounds: int) -> Check:
    for winner in chosen:
        console.print(
            f"{winner.called}: ACCEPTED for this very task and text, so it runs inside your program, with your rights.",
            soft_wrap=True,
        )
    with console.status("running the program ...") as status:
        found = check(program, chosen, rounds=rounds, tell=status.update)
    render_check(console, found, program)
    return found


def _write_json(path: Path | None, found: dict[str, Any]) -> None:
    if path is not None:
        write_text(path, json.dumps(found, indent=1) + "\n")


def _trace_json(found: Trace, ranked: list[Ranked]) -> dict[str, Any]:
    return {**asdict(found), "spots": [asdict(one) for one in ranked]}


def _check_json(found: Check) -> dict[str, Any]:
    return {**asdict(found), "ratio": found.ratio, "low": found.low, "high": found.high, "shown": found.shown}
