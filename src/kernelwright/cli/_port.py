"""`kernelwright port`: a search on other hardware, from the best of one that was made before."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.cli._resume import RunArgument
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
from kernelwright.config import configured, stored
from kernelwright.engine import port
from kernelwright.store import Records

HELP = "Search on other hardware, beginning with the best kernels of a run. Exit codes as for optimize."


def run(
    name: RunArgument,
    to: Annotated[str, typer.Option("--to", metavar="DEVICE", help="The device, as `worker join` names it.")],
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    backend: Annotated[str | None, typer.Option(help="The language to write in; as before if not said.")] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="How many candidates to judge at most; as before if not said.")
    ] = None,
    fleet: FleetOption = None,
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> None:
    voice = open_voice(as_json)
    with sentences():
        with Records(store) as records:
            before = stored(records.run(name).settings)
        now = configured(
            base=before,
            model=model,
            base_url=base_url,
            backend=backend,
            evaluations=evaluations,
            fleet=fleet,
            devices=[to],
        )
        asked, seed = now.model, now.search.seed
        with means(asked.who(), asked.base_url, now.fleet.address, store, voice, seed, asked) as made:
            found = port(name, now.plan(), made)
    conclude(voice, found, store)
