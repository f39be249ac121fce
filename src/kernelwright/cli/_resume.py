"""`kernelwright resume`: go on with a search where it was left."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from kernelwright.cli._search import (
    STORE,
    BaseUrlOption,
    FleetOption,
    ModelOption,
    StoreOption,
    conclude,
    means,
    sentences,
)
from kernelwright.engine import resume
from kernelwright.store import Records

HELP = "Go on with a search that was interrupted. Exit codes as for optimize."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, or how it begins.")]


def run(
    name: RunArgument,
    model: ModelOption,
    base_url: BaseUrlOption = None,
    fleet: FleetOption = "here",
    store: StoreOption = STORE,
) -> None:
    console = Console(highlight=False)
    with sentences():
        with Records(store) as records:
            seed = int(records.run(name).settings["seed"])
        with means(model, base_url, fleet, store, console, seed) as made:
            found = resume(name, made)
    conclude(console, found, store)
