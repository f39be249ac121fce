"""`kernelwright report`: what a search has found, as one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._failure import write_text
from kernelwright.cli._resume import RunArgument
from kernelwright.cli._search import STORE, StoreOption, sentences
from kernelwright.engine import family
from kernelwright.prompts import seed
from kernelwright.report.page import Story, Worth, page, read
from kernelwright.store import Genome as Kept
from kernelwright.store import Records

HELP = "Write what a search has found as one HTML file that needs no network."


def run(
    name: RunArgument,
    out: Annotated[Path | None, typer.Option("--out", help="Write it here; RUN.html where it is left out.")] = None,
    store: StoreOption = STORE,
) -> None:
    with sentences(), Records(store) as records:
        story = read(records, name)
        text = page(_with_seed(story), _worth(records, story))
    place = out or Path(f"{story.run.id}.html")
    write_text(place, text)
    Console(highlight=False).print(f"wrote {escape(str(place))}, {len(text.encode()) / 1e6:.2f} MB", soft_wrap=True)


def _with_seed(story: Story) -> Story:
    """The advice that evolution starts from comes with the package and stands in no store."""
    if not story.gains:
        return story
    first = seed(_backend(story))
    kept = Kept(hash=first.hash, backend=first.backend, regions=first.regions)
    return replace(story, genomes={first.hash: kept, **story.genomes})


def _worth(records: Records, story: Story) -> dict[str, Worth]:
    """What the search believes of the advice that this run used, after all runs."""
    if not story.gains:
        return {}
    kin = family(records, _backend(story))
    known = {genome.hash for genome in kin} & set(story.gains)
    believed = {name: kin.worth(name) for name in known}
    return {name: Worth(one.trials, one.mean, one.low, one.high) for name, one in believed.items()}


def _backend(story: Story) -> str:
    return str(story.run.settings.get("backend", ""))
