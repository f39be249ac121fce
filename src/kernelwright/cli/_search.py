"""What the commands of a search share: where runs are kept, who writes, who judges, what is said meanwhile."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from kernelwright.cli._failure import UsageError, guarded
from kernelwright.cli._leaving import resumable
from kernelwright.cli._moments import LETTERS as LETTERS
from kernelwright.cli._voices import NOTHING, Voice
from kernelwright.config import ConfigError, ModelSection
from kernelwright.engine import Found, Means, RunError
from kernelwright.fleet import Fleet, FleetError, open_fleet
from kernelwright.prompts import PromptError
from kernelwright.propose import ProposerError, proposer
from kernelwright.store import ENVIRONMENT, Place, Store, StoreError

STORE = Place.at("kernelwright-runs.db")
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Who writes: builtin, openai/NAME, local/FILE, mailbox/DIR, script/DIR; A:2,B:1."),
]
BaseUrlOption = Annotated[str | None, typer.Option("--base-url", help="An endpoint that speaks OpenAI's protocol.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON: docs/events.md.")]
FleetOption = Annotated[
    str | None, typer.Option("--fleet", help="Where kernels are judged: here, spool/DIR, local-ray, ray://HOST:PORT.")
]
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


@guarded
def as_place(said: Place | str) -> Place:
    """What `--store` says, as an option's parser."""
    with sentences():
        return Place.at(said)


def usual_store() -> Place:
    """Where runs are kept if nothing is said."""
    return as_place(os.environ.get(ENVIRONMENT) or STORE)


WHERE = "a file, or postgresql://USER@HOST/DATABASE"
StoreOption = Annotated[
    Place,
    typer.Option(
        "--store", metavar="PLACE", parser=as_place, envvar=ENVIRONMENT, help=f"Where runs are kept: {WHERE}."
    ),
]


@contextmanager
def means(
    model: str,
    base_url: str | None,
    fleet: str,
    store: Place,
    voice: Voice,
    seed: int = 0,
    asked: ModelSection | None = None,
) -> Iterator[Means]:
    """What a run is made with; left in the middle, it says how to go on. `asked`: how the model is."""
    stop, asked = threading.Event(), asked or ModelSection()
    writer = proposer(model, base_url=base_url, settings=asked.settings(), limits=asked.limits(), seed=seed, stop=stop)
    left = resumable(voice, model=model, base_url=base_url, fleet=fleet, store=store)
    with Store(store) as records, _judges(fleet) as judges, left, voice:
        yield Means(store=records, proposer=writer, fleet=judges, tell=voice, stop=stop)


@contextmanager
def _judges(address: str) -> Iterator[Fleet]:
    """Where candidates are judged. Who interrupts twice does not wait for what is being judged."""
    fleet = open_fleet(address)
    try:
        yield fleet
    finally:
        with suppress(KeyboardInterrupt):
            fleet.close()


def conclude(voice: Voice, found: Found, store: Place) -> None:
    """What came of it, and what to do next; exit 1 where nothing was accepted."""
    command = "best" if found.best else "show"
    voice.conclude(found, shlex.join(["kernelwright", command, found.run, "--store", str(store)]))
    if found.best is None:
        raise typer.Exit(NOTHING)
