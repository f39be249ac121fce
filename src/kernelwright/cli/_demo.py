"""`kernelwright demo`: the judge on three candidates for one task: honest, wrong, cheating."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._failure import UsageError, write_text
from kernelwright.judge import Judge, Status, Verdict
from kernelwright.tasks import load_task

HELP = "Judge three kernels for one small task on this machine: an honest one, a wrong one, a cheating one."
WIDTH = 120
CANDIDATES = ("honest", "wrong", "cheating")


def run(
    svg: Annotated[Path | None, typer.Option("--svg", help="Also write the screen as a picture.")] = None,
) -> None:
    console = Console(highlight=False, record=svg is not None, width=WIDTH if svg is not None else None)
    folder = resources.files("kernelwright.cli") / "demo"
    with resources.as_file(folder) as path, Judge(baselines=("eager", "compile")) as judge:
        task = load_task(path / "bias_gelu.py")
        console.print(
            f"Task [bold]{task.name}[/]: gelu(x + bias) on 4096 x 1024 floats. Isolation: {judge.isolation.level}."
        )
        verdicts = {}
        for name in CANDIDATES:
            with console.status(f"judging the {name} candidate ..."):
                verdicts[name] = judge.judge(task, (path / f"{name}.py.txt").read_text())
    console.print(_table(verdicts))
    _conclude(console, verdicts)
    if svg is not None:
        write_text(svg, console.export_svg(title="make demo"))


def _table(verdicts: dict[str, Verdict]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))  # six columns in eighty letters
    for heading in ("candidate", "status", "ms", "over eager", "over compile", "took"):
        table.add_column(heading, no_wrap=True)
    for name, verdict in verdicts.items():
        colour = "green" if verdict.accepted else "red"
        time = f"{verdict.time_ms['candidate']:.3g}" if verdict.time_ms else ""
        table.add_row(
            name,
            f"[{colour}]{verdict.status}[/]",
            time,
            _ratio(verdict, "eager"),
            _ratio(verdict, "compile"),
            f"{verdict.seconds['total']:.0f} s",
        )
    return table


def _ratio(verdict: Verdict, baseline: str) -> str:
    found = verdict.speedup.get(baseline)
    return f"{found['ratio']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]" if found else ""


def _conclude(console: Console, verdicts: dict[str, Verdict]) -> None:
    for name, verdict in verdicts.items():
        if not verdict.accepted:
            console.print(f"[bold]{name}:[/] {escape(verdict.message)}", soft_wrap=True)
    expected = (verdicts["honest"].accepted, verdicts["wrong"].status, verdicts["cheating"].accepted)
    if expected != (True, Status.WRONG_VALUE, False):
        raise UsageError("the judge did not judge as it should here", "run `kernelwright doctor`")
    console.print("[bold]Next:[/] kernelwright init my-task; kernelwright eval my-task my-task/candidate.py")
