"""`kernelwright suites audit`: which problems of a suite can tell a kernel from no kernel."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright import backends
from kernelwright.cli._crew import Queue, work
from kernelwright.cli._eval import FIT_SECONDS, LimitOption, limits_from
from kernelwright.cli._failure import CANNOT_JUDGE, UsageError
from kernelwright.cli._progress import Bar, progress
from kernelwright.cli._selection import check_mode, selected
from kernelwright.cli._suites import SuiteDirOption
from kernelwright.judge import Examination, InfraError, Judge, available_memory, examine, fit
from kernelwright.tasks import FLAWS, FLOATS, GIVEN, Task, TaskError, in_dtype, input_bytes
from kernelwright.tasks.suites import Finding, Problem, Quality, Suite

HELP = "Try every problem of a suite without a kernel, and write which ones are too weak to judge by. Resumable."
# What trying a problem takes, in bytes for each byte of its inputs and beside them: its inputs and its answer are there
# in double precision too, more than once, and on a host the trials are kept.
ON_DEVICE, ON_HOST, BESIDE = 10, 32, 3e9
THREADS = "OMP_NUM_THREADS"
# How it is told that something found no room, by us or by NVIDIA's libraries.
_CROWDED = re.compile(r"memory|INFRA|CUDA|CUBLAS|cuDNN|CUDNN")

SuiteArgument = Annotated[
    list[str], typer.Argument(help="What to audit: kernelbench, kernelbench:1, kernelbench:1/19.")
]


@dataclass(frozen=True)
class _Entry:
    """One variant of a problem in one dtype, under the name it has in the quality file; `task` if it could be read."""

    key: str
    title: str
    dtype: str
    task: Task | None
    trouble: str = ""


def run(
    context: typer.Context,
    suite: SuiteArgument,
    out: Annotated[Path | None, typer.Option("--out", help="The quality file; quality-SUITE.json if not said.")] = None,
    dtype: Annotated[
        list[str] | None,
        typer.Option("--dtype", help=f"Try the problems in these numbers: {', '.join(FLOATS)}. Can be repeated."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="How many problems to try at a time.")] = 1,
    host: Annotated[bool, typer.Option("--host", help="Try them on the processor though there is a GPU.")] = False,
    fit_machine: Annotated[bool, typer.Option("--fit", help="Shrink every task to this machine first.")] = False,
    mode: Annotated[str | None, typer.Option(help="Put the models in train or eval mode.")] = None,
    suite_dir: SuiteDirOption = None,
    limit: LimitOption = None,
) -> None:
    check_mode(mode)
    dtypes = _dtypes(dtype or [GIVEN])
    found, problems = selected(suite, suite_dir or context.obj)
    path = out or Path(f"quality-{found.name}.json")
    quality = _earlier(path, found)
    console = Console(highlight=False)
    read = [entry for problem in problems for entry in _entries(problem, mode, dtypes)]
    entries = sorted(read, key=lambda entry: dtypes.index(entry.dtype))
    audit = _Audit(quality, path, fitted=fit_machine, on_device=backends.usable_gpu() is not None and not host)
    try:
        audit.try_all(entries, limits_from(limit or []), jobs)
    except KeyboardInterrupt:
        done = len(quality.findings)
        console.print(f"[bold red]Stopped:[/] {done} findings are kept in {escape(str(path))}; run it again to go on.")
        raise typer.Exit(CANNOT_JUDGE) from None
    _conclude(console, quality, entries, path)


def _dtypes(names: list[str]) -> tuple[str, ...]:
    unknown = [name for name in names if name not in FLOATS]
    if unknown:
        raise UsageError(f"problems cannot be tried in {unknown[0]!r}", f"choose among: {', '.join(FLOATS)}")
    return tuple(dict.fromkeys(names))


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


def _entries(problem: Problem, mode: str | None, dtypes: tuple[str, ...]) -> Iterator[_Entry]:
    try:
        tasks = problem.tasks(mode=mode)
    except TaskError as error:
        yield from (_Entry(problem.id, problem.title, dtype, None, str(error)) for dtype in dtypes)
        return
    for number, task in enumerate(tasks, start=1):
        key = problem.id if len(tasks) == 1 else f"{problem.id}#{number}"
        yield from (_Entry(key, problem.title, dtype, task) for dtype in dtypes)


class _Audit:
    """Findings, written down one by one."""

    def __init__(self, quality: Quality, path: Path, *, fitted: bool, on_device: bool) -> None:
        self._quality, self._path = quality, path
        self._fitted, self._on_device = fitted, on_device
        self._writing = threading.Lock()

    def try_all(self, entries: list[_Entry], limits: Any, jobs: int) -> None:
        """Tries what is not known yet; what had no room beside others is tried again alone."""
        waiting = [entry for entry in entries if not self._known(entry)]
        with progress("auditing", len(waiting)) as bar:
            self._try(waiting, limits, jobs, bar)
            if jobs > 1:
                self._try([entry for entry in waiting if self._was_crowded(entry)], limits, 1, bar)

    def _try(self, entries: list[_Entry], limits: Any, jobs: int, bar: Bar) -> None:
        if not entries:
            return
        queue = Queue(entries, need=self._need, room=_room(self._on_device))

        def do(judge: Judge, entry: _Entry) -> None:
            bar.now(f"{entry.key} {entry.dtype}")
            self._note(entry, self._tried(judge, entry))
            bar.advance()

        with _cores_shared(min(jobs, len(entries))) as workers:
            work(queue, lambda: Judge(limits=limits), do, workers)

    def _need(self, entry: _Entry) -> float:
        size = 0 if entry.task is None or self._fitted else input_bytes(entry.task) or 0
        return BESIDE + size * (ON_DEVICE if self._on_device else ON_HOST)

    def _known(self, entry: _Entry) -> bool:
        """Whether the same was found out before. What could not be tried then may work now."""
        before = self._quality.findings.get((entry.key, entry.dtype))
        if before is None or entry.task is None or before.status == "unjudged":
            return False
        return before.task == entry.task.hash and before.fit == self._fitted

    def _was_crowded(self, entry: _Entry) -> bool:
        finding = self._quality.findings[entry.key, entry.dtype]
        return finding.status == "unjudged" and _CROWDED.search(finding.reason) is not None

    def _note(self, entry: _Entry, finding: Finding) -> None:
        with self._writing:
            self._quality.findings[entry.key, entry.dtype] = finding
            self._quality.titles[entry.key] = entry.title
            _write(self._quality, self._path)

    def _tried(self, judge: Judge, entry: _Entry) -> Finding:
        begun = time.monotonic()
        task = entry.task
        found = self._found(judge, task, entry.dtype) if task else {"status": "unjudged", "reason": entry.trouble}
        return Finding(
            **found,
            mode=task.mode if task else "",
            fit=self._fitted,
            task=task.hash if task else "",
            seconds=round(time.monotonic() - begun, 2),
            machine=judge.machine,
            date=date.today().isoformat(),
        )

    def _found(self, judge: Judge, task: Task, dtype: str) -> dict[str, Any]:
        changes: list[str] = []
        try:
            if self._fitted:
                task, changes = fit(judge, task, seconds=FIT_SECONDS)
            found = examine(judge, in_dtype(task, dtype), on_device=self._on_device)
            return {**_told(found), "inputs": found.inputs, "changes": tuple(changes)}
        except TaskError as error:
            status = "flagged" if error.flaws else "unjudged"
            return {"status": status, "flags": error.flaws, "reason": error.what, "changes": tuple(changes)}
        except InfraError as error:
            return {"status": "unjudged", "reason": f"INFRA: {error}"}


@contextmanager
def _cores_shared(jobs: int) -> Iterator[int]:
    """While so many judges start, each is told how many threads it may use; unless the user has said so."""
    said = os.environ.get(THREADS)
    if jobs > 1 and said is None:
        os.environ[THREADS] = str(max(1, len(os.sched_getaffinity(0)) // jobs))
    try:
        yield jobs
    finally:
        if said is None:
            os.environ.pop(THREADS, None)


def _room(on_device: bool) -> float:
    here = backends.usable_gpu()
    return here.memory_bytes if here is not None and on_device else available_memory()


def _told(found: Examination) -> dict[str, Any]:
    """Flaws of a task's own inputs that the judge's other ones make up for are flaws all the same."""
    if not found.flaws:
        return {"status": "clean"}
    flagged = {"status": "flagged", "flags": found.flaws, "nulls": found.nulls}
    if found.weak:
        return {**flagged, "reason": f"passes: {'; '.join(found.nulls)}"}
    reason = "; ".join(FLAWS[flaw] for flaw in found.flaws) + ", on the inputs that it draws itself"
    return {**flagged, "reason": reason}


def _write(quality: Quality, path: Path) -> None:
    try:
        quality.write(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "choose another place: --out FILE") from error


def _conclude(console: Console, quality: Quality, entries: list[_Entry], path: Path) -> None:
    findings = [(entry, quality.findings[entry.key, entry.dtype]) for entry in entries]
    for dtype in dict.fromkeys(entry.dtype for entry in entries):
        counts = Counter(finding.status for entry, finding in findings if entry.dtype == dtype)
        told = ", ".join(f"{counts[status]} {status}" for status in ("clean", "flagged", "unjudged"))
        console.print(f"[bold]{quality.suite}[/], {_words(dtype)}: {told}")
    for entry, finding in findings:
        if finding.status != "clean":
            what = ", ".join(finding.flags) or finding.status
            name = entry.key if entry.dtype == GIVEN else f"{entry.key} {entry.dtype}"
            console.print(f"  {escape(name)}  [yellow]{what}[/]  {escape(finding.reason)}", soft_wrap=True)
    written = escape(str(path))
    console.print(f"wrote {written}", soft_wrap=True)
    command = f"kernelwright bench {quality.suite} --solutions DIR --quality {written}"
    console.print(f"[bold]Next:[/] {command}", soft_wrap=True)


def _words(dtype: str) -> str:
    return "as given" if dtype == GIVEN else f"in {dtype}"
