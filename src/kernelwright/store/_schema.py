"""Which form the tables have: written in the store, brought up to date step by step, refused where it is newer.

A form is a number, and a revision of that name under `migrations/versions`. To change the tables: change `_tables.py`,
add the next revision, raise `FORM`; a test holds one against the other on both databases. Revisions are added and never
changed.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Column, Connection, MetaData, String, Table, delete, insert, inspect, select, update

import kernelwright
from kernelwright.store._error import StoreError
from kernelwright.store._place import Place
from kernelwright.store._tables import about, metadata

FORM = 2
NOTHING = 0
# Under this name stands the hash of a run that was exported, until somebody writes into its file.
SEALED = "sealed"
# Alembic's own mark; `about` is what counts, for every version of this program can read it.
mark = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def bring_up_to_date(connection: Connection, place: Place, alone: Callable[[Connection], None]) -> None:
    """Within the caller's transaction: all of it, or the store stays as it was. `alone`: raises where others write."""
    form = found(connection, place)
    if form == FORM:
        return
    if form == NOTHING:
        metadata.create_all(connection)
    else:
        alone(connection)
        _migrate(connection, form)
    _write(connection, {"form": str(FORM), "written by": kernelwright.__version__})
    _set_mark(connection, FORM)


def found(connection: Connection, place: Place) -> int:
    """The form of this store; raises where it is none, or a newer one than is known here."""
    form = _form(connection, place)
    if form > FORM:
        raise StoreError(
            f"{place} was written by a newer version (form {form}, known here up to {FORM})",
            "use that version of kernelwright, or another store; this one was left as it is",
        )
    return form


def no_store(place: Place) -> StoreError:
    return StoreError(f"there is no store at {place}", "check what --store says; a run makes one")


def written(connection: Connection, name: str) -> str | None:
    """What the store says of itself."""
    return connection.execute(select(about.c.value).where(about.c.name == name)).scalar_one_or_none()


def note(connection: Connection, name: str, value: str) -> None:
    _write(connection, {name: value})


def break_seal(connection: Connection) -> None:
    connection.execute(delete(about).where(about.c.name == SEALED))


def _form(connection: Connection, place: Place) -> int:
    names = inspect(connection).get_table_names()
    if not names:
        return NOTHING
    if about.name not in names:
        raise StoreError(
            f"{place} is a database of something else: it has tables, and not ours",
            "give another place; this one was left as it is",
        )
    return int(written(connection, "form") or NOTHING)


def _migrate(connection: Connection, form: int) -> None:
    # Loaded where it is needed, which is hardly ever.
    from kernelwright.store._migrate import upgrade

    _set_mark(connection, form)
    upgrade(connection)


def _set_mark(connection: Connection, form: int) -> None:
    mark.create(connection, checkfirst=True)
    connection.execute(delete(mark))
    connection.execute(insert(mark).values(version_num=str(form)))


def _write(connection: Connection, values: dict[str, str]) -> None:
    for name, value in values.items():
        changed = connection.execute(update(about).where(about.c.name == name).values(value=value))
        if not changed.rowcount:
            connection.execute(insert(about).values(name=name, value=value))
