"""`kernelwright resume`: go on with a search where it was left."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kernelwright.cli._config import settings_from
from kernelwright.cli._failure import UsageError
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
from kernelwright.config import Configuration, configured, stored
from kernelwright.engine import resume
from kernelwright.store import Place, Records

HELP = "Go on with a search that was interrupted, with the same model or another. Exit codes as for optimize."
# What may be another in each sitting; the rest was settled when the run began.
OPEN, SETTLED = ("model", "fleet"), "fleet.devices"

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, or how it begins.")]
PairsOption = Annotated[
    list[str] | None, typer.Option("--set", help="model.KEY=VALUE or fleet.KEY=VALUE; as before if not said.")
]


def run(
    name: RunArgument,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    fleet: FleetOption = None,
    pairs: PairsOption = None,
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> None:
    voice = open_voice(as_json)
    settings = _open_settings(pairs)
    with sentences():
        before = _before(name, store)
        now = configured(base=before, settings=settings, model=model, base_url=base_url, fleet=fleet)
        asked, seed = now.model, now.search.seed
        with means(asked.who(), asked.base_url, now.fleet.address, store, voice, seed, asked) as made:
            found = resume(name, made)
    conclude(voice, found, store)


def _before(name: str, store: Place) -> Configuration:
    """Opened as one who reads: where there is no store, none is made."""
    with Records(store) as records:
        return stored(records.run(name).settings)


def _open_settings(pairs: list[str] | None) -> dict[str, Any]:
    settings, constants = settings_from(pairs)
    for key in [*settings, *constants]:
        if key.partition(".")[0] not in OPEN or key == SETTLED:
            fix = f"begin another with `kernelwright optimize`; open are: {', '.join(f'{one}.*' for one in OPEN)}"
            raise UsageError(f"--set {key}: this was settled when the run began", fix)
    return settings
