"""`kernelwright eval`: judge one candidate on one task."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kernelwright import backends
from kernelwright.cli._failure import CANNOT_JUDGE, UsageError, assignments, read_text, write_text
from kernelwright.cli._render import render
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.judge import BASELINES, Judge, Limits, certificate, fit, limit_names
from kernelwright.tasks import Task, load_task

HELP = "Judge a candidate: is it right, is it honest, how fast is it. Exit 0 accepted, 1 rejected, 2 cannot judge."
REJECTED = 1
FIT_SECONDS = 0.25

TaskArgument = Annotated[str, typer.Argument(help="A KernelBench-form .py file, a task folder, or a suite's problem.")]
CandidateArgument = Annotated[Path, typer.Argument(help="A Python file that defines ModelNew.")]
SetOption = Annotated[list[str] | None, typer.Option("--set", help="Override a constant of the task: NAME=VALUE.")]
BaselineOption = Annotated[
    str, typer.Option("--baseline", help=f"What to time against, comma-separated: {', '.join(BASELINES)}.")
]
LimitOption = Annotated[
    list[str] | None, typer.Option("--limit", help=f"Change a limit, NAME=VALUE: {', '.join(limit_names())}.")
]


def run(
    task: TaskArgument,
    candidate: CandidateArgument,
    backend: Annotated[str | None, typer.Option(help="Language of the candidate; found out if not said.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the whole verdict here.")] = None,
    constants: SetOption = None,
    seed: Annotated[int | None, typer.Option(help="Master seed of the trials; secret and random if not given.")] = None,
    mode: Annotated[str | None, typer.Option(help="Put the model in train or eval mode.")] = None,
    fit_machine: Annotated[
        bool, typer.Option("--fit", help="Shrink the task to this machine's memory and a quarter second a call.")
    ] = False,
    baseline: BaselineOption = "eager,compile",
    certificate_file: Annotated[
        Path | None, typer.Option("--certificate", help="Write a certificate that `verify` can check.")
    ] = None,
    limit: LimitOption = None,
    untimed: Annotated[bool, typer.Option("--untimed", help="Check only; do not time.")] = False,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="On a GPU, look for memory faults and races with compute-sanitizer.")
    ] = False,
    suite_dir: SuiteDirOption = None,
) -> None:
    described = load_task(task, constants=assignments(constants or [], "--set"), mode=mode, suite_dir=suite_dir)
    source = read_text(candidate, "candidate")
    if backend is not None:
        check_backend(backend)
    console = Console(highlight=False)
    with Judge(
        limits=limits_from(limit or []),
        baselines=baselines_from(baseline),
        seed=seed,
        reveal_seeds=True,
        sanitize=sanitize,
    ) as judge:
        if fit_machine:
            described = fitted(judge, described, console)
        with console.status("judging ..."):
            verdict = judge.judge(described, source, timed=not untimed, backend=backend)
    if json_file is not None:
        write_text(json_file, json.dumps(verdict.to_json(), indent=1) + "\n")
    if certificate_file is not None and verdict.checked:
        write_text(certificate_file, certificate.issue(described, source, verdict, judge.baselines))
    render(console, verdict, described.name, str(candidate))
    if not verdict.checked:
        raise typer.Exit(CANNOT_JUDGE)
    if not verdict.accepted:
        raise typer.Exit(REJECTED)


def check_backend(name: str) -> None:
    known = backends.names()
    if name not in known:
        raise UsageError(f"there is no backend {name!r}", f"choose one of: {', '.join(known)}")
    available = backends.get(name).available()
    if not available.ok:
        raise UsageError(f"backend {name} does not work here: {available.detail}", available.fix)


def fitted(judge: Judge, task: Task, console: Console) -> Task:
    smaller, changes = fit(judge, task, seconds=FIT_SECONDS)
    text = "; ".join(changes) if changes else "it fits as it is"
    console.print(f"[bold]--fit:[/] {text}")
    return smaller


def baselines_from(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise UsageError(f"unknown baseline {unknown[0]!r}", f"choose among: {', '.join(BASELINES)}")
    return names


def limits_from(pairs: list[str]) -> Limits:
    changes: dict[str, Any] = changed_limits(pairs)
    return replace(Limits(), **changes)


def changed_limits(pairs: list[str]) -> dict[str, float]:
    """Those that differ from the usual ones."""
    changes: dict[str, float] = {}
    for name, text in assignments(pairs, "--limit").items():
        if name not in limit_names():
            raise UsageError(f"there is no limit {name!r}", f"choose among: {', '.join(limit_names())}")
        changes[name] = _number(name, text)
    return changes


def _number(name: str, text: str) -> float | int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < math.inf:
        raise UsageError(f"--limit {name}={text} is not a positive number", f"for example: --limit {name}=10")
    return value if name.endswith("_s") else int(value)
