"""`kernelwright store info|export|import|migrate`: what a store is, and its runs from one to another."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kernelwright.cli._resume import RunArgument
from kernelwright.cli._search import STORE, StoreOption, sentences
from kernelwright.store import Records, Run, State, bring_up_to_date, export_run, import_run

HELP = "What keeps the runs, and how a run moves from one store to another."
INFO_HELP = "Say what a store is: its database, its form, how many runs it holds and who is writing now."
EXPORT_HELP = "Write a run as one file, with everything that it leans on. The file is itself a store."
IMPORT_HELP = "Take in a run that was exported: from SQLite or PostgreSQL, into either. A second time changes nothing."
MIGRATE_HELP = "Bring a store of an earlier version up to date. A file needs it not: the next run in it does the same."

ToArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Where to; must not be there yet.")]
FromArgument = Annotated[Path, typer.Argument(metavar="FILE", help="What `store export` wrote.")]


def info(store: StoreOption = STORE) -> None:
    with sentences(), Records(store) as records:
        about, runs = records.about(), list(records.runs())
        states = Counter(str(run.state) for run in runs)
        writers = [(run.id, records.writer(run.id)) for run in runs if run.state is State.RUNNING]
    _say(f"{store}: {about['database']}, form {about['form']}, written by kernelwright {about['written by']}")
    _say(f"  {len(runs)} runs" + "".join(f", {number} {state}" for state, number in states.items()))
    for run, owner in writers:
        _say(f"  {run}: {owner or 'interrupted, nobody is writing'}")


def export(name: RunArgument, file: ToArgument, store: StoreOption = STORE) -> None:
    with sentences(), Records(store) as records:
        run = export_run(records, name, file)
    _say(f"{run.id} is in {file}, {file.stat().st_size / 1e6:.1f} MB")
    _say(f"  there: kernelwright store import {shlex.quote(str(file))} --store PLACE")


def take_in(file: FromArgument, store: StoreOption = STORE) -> None:
    with sentences():
        imported = import_run(file, store)
    if not imported.new:
        _say(f"{imported.run.id} was in {store} already, the same to the last row; nothing was changed")
        return
    _say(f"{imported.run.id} is in {store} now")
    _say(f"  {_next(imported.run, str(store))}")


def migrate(store: StoreOption = STORE) -> None:
    with sentences():
        before, now = bring_up_to_date(store)
    _say(f"{store} has form {now}" + (f" now; it had {before}" if before != now else " already; nothing was changed"))


def _next(run: Run, store: str) -> str:
    command = "show" if run.state is State.FINISHED else "resume"
    return shlex.join(["kernelwright", command, run.id, "--store", store])


def _say(line: str) -> None:
    Console(highlight=False).print(escape(line), soft_wrap=True)
