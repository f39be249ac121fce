"""What the commands of a search share: where runs are kept, who writes, who judges, what is said meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._failure import UsageError
from kernelwright.cli._leaving import resumable
from kernelwright.config import ConfigError, ModelSection
from kernelwright.engine import Found, Means, RunError
from kernelwright.fleet import FleetError, open_fleet
from kernelwright.prompts import PromptError
from kernelwright.propose import ProposerError, proposer
from kernelwright.store import Store, StoreError

STORE = Path("kernelwright-runs.db")
LETTERS = 10

StoreOption = Annotated[Path, typer.Option("--store", help="Where runs are kept.")]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Who writes: openai/NAME, local/FILE.gguf, mailbox/DIR, script/DIR; A:2,B:1."),
]
BaseUrlOption = Annotated[str | None, typer.Option("--base-url", help="An endpoint that speaks OpenAI's protocol.")]
FleetOption = Annotated[str | None, typer.Option("--fleet", help="Where kernels are judged: here, or spool/DIR.")]
SPOKEN = (RunError, ProposerError, FleetError, StoreError, PromptError, ConfigError)


@contextmanager
def sentences() -> Iterator[None]:
    """What the rooms of a search raise, as what a command says."""
    try:
        yield
    except SPOKEN as error:
        raise UsageError(str(getattr(error, "what", error)), error.fix) from error
    except ValueError as error:
        raise UsageError(str(error), "`kernelwright optimize --help` says what there is") from error


@contextmanager
def means(
    model: str,
    base_url: str | None,
    fleet: str,
    store: Path,
    console: Console,
    seed: int = 0,
    asked: ModelSection | None = None,
) -> Iterator[Means]:
    """What a run is made with; left in the middle, it says how to go on. `asked`: how the model is."""
    stop, voice, asked = threading.Event(), Voice(console), asked or ModelSection()
    writer = proposer(model, base_url=base_url, settings=asked.settings(), limits=asked.limits(), seed=seed, stop=stop)
    left = resumable(voice, model=model, base_url=base_url, fleet=fleet, store=store)
    with left, Store(store) as records, closing(open_fleet(fleet)) as judges:
        yield Means(store=records, proposer=writer, fleet=judges, tell=voice, stop=stop)


class Voice:
    """A line for whatever happens, in a terminal or in a file."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._judged = 0
        self.run = ""

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        line = self._line(kind, data)
        if line:
            self._console.print(line, soft_wrap=True)

    def _line(self, kind: str, data: dict[str, Any]) -> str:
        if kind == "begun":
            self.run = data["run"]
            return f"run {self.run}"
        if kind == "judged":
            self._judged += 1
            cell = "".join(map(str, data["cell"]))
            speed = f"  {data['speedup']:.2f}x" if data.get("speedup") else ""
            return f"{self._judged:4}  {data['candidate'][:LETTERS]}  {data['status']:<16} cell {cell}{speed}"
        if kind == "final":
            return f"      measuring {data['candidate'][:LETTERS]} once more, on new inputs"
        if kind == "unusable":
            return f"      answer {data['request']} holds no kernel: {escape(data['why'])}"
        if kind == "fault":
            return f"      the judge failed, trying again: {escape(data['why'])}"
        return "      the advice was rewritten" if kind == "advice" and data["genome"] else ""


def speedups(verdict: dict[str, Any]) -> str:
    """How fast, over each baseline, with the interval."""
    told = verdict["speedup"].items()
    return ", ".join(f"{one['ratio']:.2f}x {name} [{one['low']:.2f}, {one['high']:.2f}]" for name, one in told)


def conclude(console: Console, found: Found, store: Path) -> None:
    """What came of it, and what to do next; exit 1 where nothing was accepted."""
    console.print(f"[bold]{escape(found.reason)}[/]", soft_wrap=True)
    for sentence in found.said:
        console.print(escape(sentence), soft_wrap=True)
    best = found.best
    if best is None or found.winner is None:
        console.print("no kernel was accepted", style="red")
        console.print(f"[bold]Next:[/] kernelwright show {found.run} --store {escape(str(store))}", soft_wrap=True)
        raise typer.Exit(1)
    filled = f"{len(found.archive.elites)} of 64 cells filled"
    console.print(
        f"best {best.candidate[:LETTERS]}: {escape(speedups(found.winner.verdict))}; {filled}", soft_wrap=True
    )
    console.print(f"[bold]Next:[/] kernelwright best {found.run} --store {escape(str(store))}", soft_wrap=True)
