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
    Voice,
    conclude,
    means,
    sentences,
)
from kernelwright.engine import resume
from kernelwright.store import Store

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
    with sentences(), Store(store) as records, means(model, base_url, fleet) as (writer, judges):
        found = resume(name, store=records, proposer=writer, fleet=judges, tell=Voice(console))
    conclude(console, found, store)
