"""`kernelwright demo`: everyday fusions made faster on this machine, with no model, no key and no GPU."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kernelwright.cli._demo_screen import Row, show
from kernelwright.cli._eval import check_backend
from kernelwright.cli._failure import UsageError, write_text
from kernelwright.cli._search import sentences
from kernelwright.cli._timetable import Timetable
from kernelwright.engine import Budget, Found, Means, Plan, RunError, optimize
from kernelwright.fleet import HERE, Fleet, open_fleet
from kernelwright.judge import Verdict, certificate
from kernelwright.propose.builtin import Builtin
from kernelwright.store import Store
from kernelwright.tasks import Task, load_task

HELP = (
    "Make everyday fusions faster on this machine, with no model: against eager and torch.compile, with certificates."
)
FOLDER = Path("kernelwright-demo")
WIDTH = 100
SUITE = "everyday"
# The tasks of the suite, and what they are called here.
FUSIONS = {
    "bias_gelu": "bias + GELU",
    "layernorm_residual": "residual + LayerNorm",
    "masked_softmax": "softmax with mask",
    "rmsnorm_scale": "RMSNorm + scale",
    "self_attention": "small attention",
    "linear_relu": "matmul + bias + ReLU",
}
BASELINES = ("eager", "compile")
# All six are planned for less than three minutes on two quiet cores. What a slower machine cannot end in twice that is
# left out unless it was asked for.
PATIENCE = 360.0
EVALUATIONS = 12


@dataclass(frozen=True)
class Stage:
    """What all searches of the demo share: a judge, a store, and the synthesiser."""

    fleet: Fleet
    store: Store
    writer: Builtin
    evaluations: int

    def search(self, task: Task, budget: Budget) -> Found:
        # One is built while another is timed; a profile would be for a model to read.
        plan = Plan(backend="cpp", budget=budget, baselines=BASELINES, lanes=2, without=("profile", "prompt-evolution"))
        return optimize(task, plan, Means(store=self.store, proposer=self.writer, fleet=self.fleet))


def run(
    fusions: Annotated[
        list[str] | None, typer.Argument(metavar="[FUSION]...", help=f"Which: {', '.join(FUSIONS)}; all if not said.")
    ] = None,
    evaluations: Annotated[int, typer.Option(help="How many kernels to judge for each at most.")] = EVALUATIONS,
    out: Annotated[Path, typer.Option("--out", help="Where kernels, certificates and runs are kept.")] = FOLDER,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also write the screen as a picture.")] = None,
) -> None:
    tasks = [load_task(f"{SUITE}:{name}") for name in _known(fusions or list(FUSIONS))]
    if evaluations < 1:
        raise UsageError(f"{evaluations} kernels for each are none", "give --evaluations 1 or more")
    check_backend("cpp")
    console = Console(highlight=False, record=svg is not None, width=WIDTH if svg is not None else None)
    began = time.monotonic()
    with sentences(), Store(out / "runs.db") as store, closing(open_fleet(HERE)) as fleet:
        timetable = Timetable(len(tasks), promise=math.inf if fusions else PATIENCE)
        rows = _rows(tasks, Stage(fleet, store, Builtin(), evaluations), timetable)
    for row in rows:
        _keep(row, out)
    show(console, rows, out, time.monotonic() - began)
    if svg is not None:
        write_text(svg, console.export_svg(title="make demo"))
    if all(row.winner is None for row in rows):
        raise UsageError("no kernel was accepted for any of them", "run `kernelwright doctor`")


def _known(names: Sequence[str]) -> Iterable[str]:
    for name in names:
        if name not in FUSIONS:
            raise UsageError(f"the demo has no fusion {name!r}", f"give one or more of {', '.join(FUSIONS)}")
    return dict.fromkeys(names)


def _rows(tasks: Sequence[Task], stage: Stage, timetable: Timetable) -> list[Row]:
    progress = Console(stderr=True, highlight=False)
    rows: list[Row] = []
    for place, task in enumerate(tasks):
        with progress.status(f"{FUSIONS[task.name]}: searching ({place + 1} of {len(tasks)}) ..."):
            rows.append(_timed_row(task, stage, timetable) if timetable.has_room() else _left_out(task))
        progress.print(f"{FUSIONS[task.name]}: {rows[-1].in_words}", soft_wrap=True)
    return rows


def _left_out(task: Task) -> Row:
    why = f"six minutes do not suffice on this machine; run `kernelwright demo {task.name}`"
    return Row(words=FUSIONS[task.name], task=task, why=why)


def _timed_row(task: Task, stage: Stage, timetable: Timetable) -> Row:
    began, seconds = time.monotonic(), timetable.seconds()
    row = _row(
        task, stage, Budget(evaluations=min(stage.evaluations, timetable.kernels(seconds)), wall_seconds=seconds)
    )
    timetable.passed(seconds, time.monotonic() - began)
    return row


def _row(task: Task, stage: Stage, budget: Budget) -> Row:
    words = FUSIONS[task.name]
    try:
        found = stage.search(task, budget)
    except RunError as error:
        return Row(words=words, task=task, why=str(error))
    judged = stage.store.spent(found.run).evaluations
    if found.winner is None:
        return Row(words=words, task=task, judged=judged, why=_why(stage.store, found))
    return Row(words=words, task=task, judged=judged, found=found)


def _why(store: Store, found: Found) -> str:
    """Why there is no winner: the last thing that the judge said."""
    said: list[Any] = [judged.verdict for judged in store.verdicts(found.run)]
    return found.said[-1] if found.said else str(said[-1]["message"]) if said else found.reason


def _keep(row: Row, folder: Path) -> None:
    """The kernel, and the certificate of its last measurement."""
    if row.winner is None or row.found is None or row.found.source is None:
        return
    verdict = Verdict.from_json(row.winner.verdict)
    write_text(folder / f"{row.task.name}.py", row.found.source)
    write_text(folder / f"{row.task.name}.json", certificate.issue(row.task, row.found.source, verdict, BASELINES))
