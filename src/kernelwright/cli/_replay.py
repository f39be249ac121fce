"""`kernelwright replay`: a recorded search once more, with no model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kernelwright.cli._failure import UsageError
from kernelwright.cli._resume import RunArgument
from kernelwright.cli._search import STORE, JsonOption, StoreOption, as_place, conclude, sentences
from kernelwright.cli._voices import open_voice
from kernelwright.engine import Found, Means, Recorded, archive_of, recorded_replies, replay
from kernelwright.fleet import Fleet, open_fleet
from kernelwright.store import Place, Records, Store

HELP = "Play a recorded search again: same replies, same verdicts, no model. Exit 0 if it comes to the same end."

OutOption = Annotated[
    Place | None, typer.Option("--out", metavar="PLACE", parser=as_place, help="Keep what is played in this store.")
]


def run(
    name: RunArgument,
    judge: Annotated[bool, typer.Option("--judge", help="Judge every kernel again, on this machine.")] = False,
    out: OutOption = None,
    store: StoreOption = STORE,
    as_json: JsonOption = False,
) -> None:
    voice = open_voice(as_json)
    with sentences(), Records(store) as records, _kept(out, store) as path, Store(path) as copy:
        recorded = records.run(name)
        with closing(_fleet(records, recorded.id, judge)) as fleet, voice:
            writer = recorded_replies(records, recorded.id)
            means = Means(store=copy, proposer=writer, fleet=fleet, tell=voice)
            found = replay(records, recorded.id, means, in_order=not judge)
        same = found.archive.to_json() == archive_of(records, recorded.id).to_json()
    _say(voice.console, found, same=same, judged=judge)
    conclude(voice, found if out else replace(found, run=recorded.id), out or store)


def _fleet(records: Records, recorded: str, judge: bool) -> Fleet:
    return open_fleet("here") if judge else Recorded(records, recorded)


@contextmanager
def _kept(out: Place | None, store: Place) -> Iterator[Place]:
    """Where the copy is written: a file that stays if one is named."""
    if out is not None:
        if out.identity == store.identity:
            raise UsageError(f"{out} holds the recorded run", "name another place with --out")
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Place.at(Path(folder) / "replay.db")


def _say(console: Console, found: Found, *, same: bool, judged: bool) -> None:
    if judged:
        console.print("judged again on this machine; the recorded run's times are those of its own")
    elif same:
        console.print("the same end as recorded: every cell, every kernel, every number")
    else:
        raise UsageError(
            f"run {found.run} came to another end than was recorded",
            "it was recorded by another version, or shares kernels with other runs of its store",
        )
