"""`kernelwright best`: the kernel that a search has found, and the certificate of its last measurement."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.archive import Entry
from kernelwright.cli._failure import UsageError, write_text
from kernelwright.cli._moments import speedups
from kernelwright.cli._patch import patch
from kernelwright.cli._resume import RunArgument
from kernelwright.cli._runs import in_words, reported
from kernelwright.cli._search import LETTERS, STORE, StoreOption, sentences
from kernelwright.judge import Verdict, certificate
from kernelwright.store import Judged, Records, Run
from kernelwright.tasks import Task

HELP = "Print the best kernel that a search has found, and what its certificate says."
UNMEASURED = "the run has not come to its end, where the best is measured once more"


@dataclass(frozen=True)
class Best:
    """A run's best kernel. `final`: its last measurement; None where the run has not come to its end."""

    run: Run
    task: Task
    source: str
    entry: Entry
    final: Judged | None


def run(
    name: RunArgument,
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file.")] = None,
    certificate_file: Annotated[
        Path | None, typer.Option("--certificate", help="Write its certificate, which `verify` can check.")
    ] = None,
    as_patch: Annotated[
        bool, typer.Option("--patch", help="As a patch of the project, for `git am`, with the certificate's claims.")
    ] = False,
    store: StoreOption = STORE,
) -> None:
    with sentences(), Records(store) as records:
        found = best_of(records, records.run(name))
    console = Console(stderr=True, highlight=False)
    for line in _claims(found):
        console.print(f"# {escape(line)}", soft_wrap=True)
    if certificate_file is not None:
        write_text(certificate_file, _certificate(found))
    text = _patch(found) if as_patch else found.source
    if out is None:
        typer.echo(text)
    else:
        write_text(out, text)


def best_of(records: Records, run: Run) -> Best:
    """Raises UsageError where a run has no kernel to show."""
    told, entry = records.final(run.id), reported(records, run.id)
    if entry is None:
        what = "held when it was measured again" if told else "was accepted"
        raise UsageError(f"no kernel {what} in run {run.id}", f"see why: kernelwright show {run.id}")
    kept, wire = records.candidate(entry.candidate), records.task(run.task)
    assert kept is not None
    assert wire is not None
    final = _judged(records, run, told) if told else None
    return Best(run, Task.from_wire(wire), kept.source, entry, final)


def _judged(records: Records, run: Run, told: dict[str, Any]) -> Judged:
    found = records.judged(told["candidate"], run.task)
    return next(judged for judged in found if (judged.run, judged.job) == (run.id, told["job"]))


def _claims(found: Best) -> list[str]:
    """What the certificate claims, for comments: the source may be piped on without them."""
    final, name = found.final, found.entry.candidate[:LETTERS]
    if final is None:
        return [f"{name}: {in_words(found.entry)} over {_over(found)}, in the search", UNMEASURED]
    when = time.strftime("%F %T", time.gmtime(final.noted))
    return [
        f"{name}: {speedups(final.verdict)}",
        f"{final.status}: {final.verdict['message']}",
        f"measured at the end of the run on inputs nobody had seen, {when} UTC, judge {final.judge}",
        f"on {final.device}",
        "--certificate FILE writes the whole of it: task, kernel, seeds, samples; kernelwright verify FILE checks it",
    ]


def _patch(found: Best) -> str:
    if found.task.project is None:
        raise UsageError(
            f"run {found.run.id} is no search in a project, so there is nothing to patch", "leave --patch out"
        )
    if found.final is None:
        raise UsageError(
            f"run {found.run.id} has no certificate: {UNMEASURED}", f"go on: kernelwright resume {found.run.id}"
        )
    return patch(found.task, found.task.project, found.source, found.final)


def _over(found: Best) -> str:
    return "eager" if found.task.project is None else "the original"


def _certificate(found: Best) -> str:
    if found.final is None:
        raise UsageError(
            f"run {found.run.id} has no certificate: {UNMEASURED}", f"go on: kernelwright resume {found.run.id}"
        )
    verdict = Verdict.from_json(found.final.verdict)
    return certificate.issue(found.task, found.source, verdict, tuple(verdict.speedup))
