"""`kernelwright resume`: go on with a search where it was left."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.cli._search import (
    STORE,
    BaseUrlOption,
    FleetOption,
    JsonOption,
    ModelOption,
    StoreOption,
    conclude,
    means,
    sentences,
)
from kernelwright.cli._voices import open_voice
from kernelwright.engine import resume

HELP = "Go on with a search that was interrupted. Exit codes as for optimize."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, or how it begins.")]


def run(
    name: RunArgument,
    model: ModelOption,
    base_url: BaseUrlOption = None,
    fleet: FleetOption = "here",
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> None:
    voice = open_voice(as_json)
    with sentences(), means(model, base_url, fleet, store, voice) as made:
        found = resume(name, made)
    conclude(voice, found, store)
