"""Which kernels may run inside a user's program: those that the judge has accepted, as a store or certificate says."""

from __future__ import annotations

from pathlib import Path

from kernelwright.cli._best import UNMEASURED, best_of
from kernelwright.cli._failure import UsageError, read_text
from kernelwright.judge import Verdict, certificate, source_hash
from kernelwright.store import Place, Records
from kernelwright.tasks import Task
from kernelwright.trace import Accepted, class_replaced

CERTIFY = "kernelwright eval TASK CANDIDATE --certificate FILE"


def accepted(names: str, store: Place) -> list[Accepted]:
    """The winners that runs and certificates name. Raises UsageError for whatever the judge has not accepted."""
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    if not chosen:
        raise UsageError("--with names nothing", "name runs or certificates, comma-separated")
    return [_from_file(Path(name)) if _names_file(name) else _from_run(name, store) for name in chosen]


def _names_file(name: str) -> bool:
    return Path(name).exists() or bool(Path(name).suffix)


def _from_file(path: Path) -> Accepted:
    text = read_text(path, "certificate")
    if path.suffix == ".py":
        raise UsageError(
            f"{path} is a kernel's text, and says nothing of whether it was accepted", f"have it judged: {CERTIFY}"
        )
    try:
        claim = certificate.read(text)
        verdict = Verdict.from_json(claim.verdict)
    except (certificate.BrokenCertificate, KeyError, ValueError) as error:
        raise UsageError(f"{path}: {error}", f"have the kernel judged again: {CERTIFY}") from error
    if not verdict.accepted:
        raise UsageError(f"{path}: the judge did not accept this kernel, it says {verdict.status}", f"see: {CERTIFY}")
    return _traced(claim.task, claim.candidate, str(path))


def _from_run(name: str, store: Place) -> Accepted:
    with Records(store) as records:
        found = best_of(records, records.run(name))
    final, called = found.final, f"run {found.run.id}"
    if final is None:
        raise UsageError(f"{called}: {UNMEASURED}", f"go on: kernelwright resume {found.run.id}")
    proven = final.accepted and (final.task, final.candidate) == (found.task.hash, source_hash(found.source))
    if not proven:
        raise UsageError(f"{called}: its kernel was not accepted for this very task and text", "search again")
    return _traced(found.task, found.source, called)


def _traced(task: Task, candidate: str, called: str) -> Accepted:
    if not class_replaced(task.source):
        raise UsageError(
            f"{called} was accepted for the task {task.name}, which no trace has written",
            "a winner fits a program only by way of a task that `kernelwright trace --out DIR` wrote for it",
        )
    return Accepted(task, candidate, called)
