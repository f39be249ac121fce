"""Which form the tables have: written in the file, brought up to date step by step, refused where it is newer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select, update

import kernelwright
from kernelwright.store._error import StoreError
from kernelwright.store._tables import about, metadata

Step = Callable[[Connection], None]

# Step n brings a file from form n to form n + 1. A new file has form 0. Steps are added and never changed.
STEPS: tuple[Step, ...] = (metadata.create_all,)


def bring_up_to_date(connection: Connection, path: Path) -> None:
    """Within the caller's transaction: all of it, or the file stays as it was."""
    form = _form(connection, path)
    _refuse_newer(form, path)
    for step in STEPS[form:]:
        step(connection)
    if form < len(STEPS):
        _write(connection, {"form": str(len(STEPS)), "written by": kernelwright.__version__})


def check(connection: Connection, path: Path) -> None:
    """For who only reads: the form must be the one known here."""
    form = _form(connection, path)
    _refuse_newer(form, path)
    if form < len(STEPS):
        raise StoreError(
            f"{path} was written by an older version (form {form}, here {len(STEPS)})",
            "begin or resume a run with it once: that brings it up to date",
        )


def _refuse_newer(form: int, path: Path) -> None:
    if form > len(STEPS):
        raise StoreError(
            f"{path} was written by a newer version (form {form}, known here up to {len(STEPS)})",
            "use that version of kernelwright, or another store; this file was left as it is",
        )


def _form(connection: Connection, path: Path) -> int:
    names = inspect(connection).get_table_names()
    if not names:
        return 0
    if about.name not in names:
        raise StoreError(
            f"{path} is a database of something else: it has tables, and not ours",
            "give another path; this file was left as it is",
        )
    return int(connection.execute(select(about.c.value).where(about.c.name == "form")).scalar_one())


def _write(connection: Connection, values: dict[str, str]) -> None:
    for name, value in values.items():
        changed = connection.execute(update(about).where(about.c.name == name).values(value=value))
        if not changed.rowcount:
            connection.execute(insert(about).values(name=name, value=value))
