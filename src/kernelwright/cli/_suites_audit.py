"""`kernelwright suites audit`: which problems of a suite can tell a kernel from no kernel."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._eval import FIT_SECONDS, LimitOption, limits_from
from kernelwright.cli._failure import CANNOT_JUDGE, UsageError
from kernelwright.cli._progress import progress
from kernelwright.cli._selection import check_mode, selected
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.judge import InfraError, Judge, Prepared, fit
from kernelwright.tasks import FLAWS, Task, TaskError
from kernelwright.tasks.suites import Finding, Problem, Quality, Suite

HELP = "Try every problem of a suite without a kernel, and write which ones are too weak to judge by. Resumable."

SuiteArgument = Annotated[
    list[str], typer.Argument(help="What to audit: kernelbench, kernelbench:1, kernelbench:1/19.")
]


@dataclass(frozen=True)
class _Entry:
    """One variant of a problem, under the name it has in the quality file; `task` where it could be read."""

    key: str
    task: Task | None
    trouble: str = ""


def run(
    context: typer.Context,
    suite: SuiteArgument,
    out: Annotated[Path | None, typer.Option("--out", help="The quality file; quality-SUITE.json if not said.")] = None,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink every task to this machine first.")] = False,
    mode: Annotated[str | None, typer.Option(help="Put the models in train or eval mode.")] = None,
    suite_dir: SuiteDirOption = None,
    limit: LimitOption = None,
) -> None:
    check_mode(mode)
    found, problems = selected(suite, suite_dir or context.obj)
    path = out or Path(f"quality-{found.name}.json")
    quality = _earlier(path, found)
    console = Console(highlight=False)
    entries = [entry for problem in problems for entry in _entries(problem, mode)]
    waiting = [entry for entry in entries if not _known(quality, entry, fit_machine)]
    try:
        with Judge(limits=limits_from(limit or [])) as judge, progress("auditing", len(waiting)) as bar:
            for entry in waiting:
                bar.now(entry.key)
                quality.findings[entry.key] = _tried(judge, entry, fit_machine)
                _write(quality, path)
                bar.advance()
    except KeyboardInterrupt:
        done = len(quality.findings)
        console.print(f"[bold red]Stopped:[/] {done} findings are kept in {escape(str(path))}; run it again to go on.")
        raise typer.Exit(CANNOT_JUDGE) from None
    _conclude(console, quality, [entry.key for entry in entries], path)


def _earlier(path: Path, suite: Suite) -> Quality:
    if not path.exists():
        return Quality(suite.name, suite.version)
    earlier = Quality.read(path)
    if (earlier.suite, earlier.version) != (suite.name, suite.version):
        raise UsageError(
            f"{path} is about {earlier.suite} {earlier.version or '(version unknown)'}, "
            f"not {suite.name} {suite.version or '(version unknown)'}",
            "write to another file: --out FILE",
        )
    return earlier


def _entries(problem: Problem, mode: str | None) -> Iterator[_Entry]:
    try:
        tasks = problem.tasks(mode=mode)
    except TaskError as error:
        yield _Entry(problem.id, None, str(error))
        return
    for number, task in enumerate(tasks, start=1):
        yield _Entry(problem.id if len(tasks) == 1 else f"{problem.id}#{number}", task)


def _known(quality: Quality, entry: _Entry, fit_machine: bool) -> bool:
    """Whether the same was found out before. What could not be tried then may work now."""
    before = quality.findings.get(entry.key)
    if before is None or entry.task is None or before.status == "unjudged":
        return False
    return before.task == entry.task.hash and before.fit == fit_machine


def _tried(judge: Judge, entry: _Entry, fit_machine: bool) -> Finding:
    begun = time.monotonic()
    task = entry.task
    found = _found(judge, task, fit_machine) if task else {"status": "unjudged", "reason": entry.trouble}
    return Finding(
        **found,
        mode=task.mode if task else "",
        fit=fit_machine,
        task=task.hash if task else "",
        seconds=round(time.monotonic() - begun, 2),
        machine=judge.machine,
        date=date.today().isoformat(),
    )


def _found(judge: Judge, task: Task, fit_machine: bool) -> dict[str, Any]:
    changes: list[str] = []
    try:
        if fit_machine:
            task, changes = fit(judge, task, seconds=FIT_SECONDS)
        prepared = judge.prepare(task)  # which is where the judge finds its flaws
        return {**_told(prepared.flaws), "inputs": _input_dtypes(prepared), "changes": tuple(changes)}
    except TaskError as error:
        status = "flagged" if error.flaws else "unjudged"
        return {"status": status, "flags": error.flaws, "reason": error.what, "changes": tuple(changes)}
    except InfraError as error:
        return {"status": "unjudged", "reason": f"INFRA: {error}"}
    finally:
        judge.forget(task)


def _told(flaws: tuple[str, ...]) -> dict[str, Any]:
    """Flaws of a task's own inputs that the judge's other ones make up for are flaws all the same."""
    if not flaws:
        return {"status": "clean"}
    reason = "; ".join(FLAWS[flaw] for flaw in flaws) + ", on the inputs that it draws itself"
    return {"status": "flagged", "flags": flaws, "reason": reason}


def _input_dtypes(prepared: Prepared) -> tuple[str, ...]:
    return tuple(dict.fromkeys(leaf["dtype"] for trial in prepared.trials for leaf in trial.inputs.leaves))


def _write(quality: Quality, path: Path) -> None:
    try:
        quality.write(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "choose another place: --out FILE") from error


def _conclude(console: Console, quality: Quality, keys: list[str], path: Path) -> None:
    counts = Counter(quality.findings[key].status for key in keys)
    told = ", ".join(f"{counts[status]} {status}" for status in ("clean", "flagged", "unjudged"))
    console.print(f"[bold]{quality.suite}[/]: {told}")
    for key in keys:
        finding = quality.findings[key]
        if finding.status != "clean":
            what = ", ".join(finding.flags) or finding.status
            console.print(f"  {escape(key)}  [yellow]{what}[/]  {escape(finding.reason)}", soft_wrap=True)
    written = escape(str(path))
    console.print(f"wrote {written}", soft_wrap=True)
    command = f"kernelwright bench {quality.suite} --solutions DIR --quality {written}"
    console.print(f"[bold]Next:[/] {command}", soft_wrap=True)
