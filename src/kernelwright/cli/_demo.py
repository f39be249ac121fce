"""`kernelwright demo`: everyday fusions made faster on this machine, with no model, no key and no GPU."""

from __future__ import annotations

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
# Under three minutes for all of them on two quiet cores, of which this much for each goes to trying the judge before a
# search and to measuring the winner after it, torch.compile beside it.
SECONDS, BESIDE_SEARCH, SHORTEST = 165.0, 16.0, 4.0
EVALUATIONS = 12


@dataclass(frozen=True)
class Stage:
    """What all searches of the demo share: a judge, a store, and the synthesiser."""

    fleet: Fleet
    store: Store
    writer: Builtin
    evaluations: int

    def search(self, task: Task, seconds: float) -> Found:
        budget = Budget(evaluations=self.evaluations, wall_seconds=seconds)
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
        rows = _rows(tasks, Stage(fleet, store, Builtin(), evaluations), began)
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


def _rows(tasks: Sequence[Task], stage: Stage, began: float) -> list[Row]:
    progress = Console(stderr=True, highlight=False)
    rows: list[Row] = []
    for place, task in enumerate(tasks):
        left = SECONDS * len(tasks) / len(FUSIONS) - (time.monotonic() - began)
        seconds = max(SHORTEST, left / (len(tasks) - place) - BESIDE_SEARCH)
        with progress.status(f"{FUSIONS[task.name]}: searching ({place + 1} of {len(tasks)}) ..."):
            rows.append(_row(task, stage, seconds))
        progress.print(f"{FUSIONS[task.name]}: {rows[-1].in_words}", soft_wrap=True)
    return rows


def _row(task: Task, stage: Stage, seconds: float) -> Row:
    words = FUSIONS[task.name]
    try:
        found = stage.search(task, seconds)
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
