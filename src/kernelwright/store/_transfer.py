"""One run as one file, from any store into any other.

The file is itself a store that holds this run alone, with everything that it leans on: `--store FILE` reads it. It is
sealed: a hash of all its rows stands in it, and what does not match is not taken in.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, delete, insert, inspect, or_, select, text

from kernelwright.store import _schema
from kernelwright.store import _tables as tables
from kernelwright.store._error import StoreError, placed, told
from kernelwright.store._place import Place
from kernelwright.store._read import PAGE, Condition, Records
from kernelwright.store._records import Run
from kernelwright.store._sqlite import SqliteFile
from kernelwright.store._store import Store

# Each refers to earlier ones only.
SHARED = (tables.tasks, tables.candidates, tables.genomes)
OWN = (
    *(tables.runs, tables.sittings, tables.requests, tables.replies, tables.births),
    *(tables.verdicts, tables.moves, tables.outcomes, tables.events),
)
Row = dict[str, Any]


@dataclass(frozen=True)
class Imported:
    """`new` is False where the run was there already, the same to the last row."""

    run: Run
    new: bool


def export_run(records: Records, name: str, file: Path) -> Run:
    """Writes the run of this name as a file of its own, whole or not at all."""
    run = records.run(name)
    if file.exists():
        raise StoreError(f"{file} is there already", "name another file, or remove that one")
    with placed(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".kernelwright-", dir=file.parent) as folder:
            made = Path(folder) / "run.db"
            with records.at_one_moment() as source:
                _fill(made, source, run)
            os.link(made, file)  # never over a file that has come meanwhile
    return run


def import_run(file: Path, into: Place | Path | str) -> Imported:
    """Takes in a run that `export_run` wrote: all of it, once. Raises StoreError, and then nothing was changed."""
    source, place = Place(path=file), Place.at(into)
    if source.identity == place.identity:
        raise StoreError(f"{file} cannot be imported into itself", "name another store; this file can be read as one")
    with Records(source) as records:
        _check_seal(file)
        (run,) = records.runs()
        with records.at_one_moment() as rows, Store(place) as store:
            return Imported(run, _take_in(rows, store, run))


# Out


def _fill(path: Path, source: Connection, run: Run) -> None:
    file = SqliteFile(path)
    engine = file.filler()
    try:
        with told(file), engine.begin() as target:
            _schema.bring_up_to_date(target, Place(path=path), file.be_alone)
            for table in (*SHARED, *OWN):
                for page in _pages(source, table, _leans_on(source, table, run)):
                    target.execute(insert(table), page)
            _schema.note(target, _schema.SEALED, _seal(target))
    finally:
        engine.dispose()


def _leans_on(source: Connection, table: Table, run: Run) -> Condition:
    """Which rows of a table a run is made of. Verdicts on its candidates that other runs paid for belong to it, too."""
    births, verdicts = tables.births, tables.verdicts
    born = select(births.c.candidate).where(births.c.run == run.id)
    lent = and_(verdicts.c.task == run.task, verdicts.c.used, verdicts.c.candidate.in_(born))
    if table is tables.tasks:
        return tables.tasks.c.hash == run.task
    if table is tables.candidates:
        judged = select(verdicts.c.candidate).where(verdicts.c.run == run.id)
        return or_(tables.candidates.c.hash.in_(born), tables.candidates.c.hash.in_(judged))
    if table is tables.genomes:
        return tables.genomes.c.seq.in_(_family(source, run.id))
    return or_(_of(table, run.id), lent) if table is verdicts else _of(table, run.id)


def _family(source: Connection, run: str) -> list[int]:
    """The advice that a run was given or has written, and what it descends from."""
    genomes, asked, outcomes = tables.genomes, tables.requests, tables.outcomes
    used = [select(asked.c.backend, asked.c.genome).where(asked.c.run == run)]
    used += [select(outcomes.c.backend, outcomes.c.genome).where(outcomes.c.run == run)]
    used += [select(genomes.c.backend, genomes.c.hash).where(genomes.c.run == run)]
    wanted = {(backend, hash) for query in used for backend, hash in source.execute(query.distinct())}
    known = {
        (backend, hash): (parent, seq)
        for backend, hash, parent, seq in source.execute(
            select(genomes.c.backend, genomes.c.hash, genomes.c.parent, genomes.c.seq)
        )
    }
    found: dict[tuple[str, str], int] = {}
    while wanted:
        one = wanted.pop()
        if one in known and one not in found:
            parent, found[one] = known[one]
            wanted.add((one[0], parent))
    return list(found.values())


# In


def _take_in(source: Connection, store: Store, run: Run) -> bool:
    with store._writing() as target:
        if target.execute(select(tables.runs.c.id).where(tables.runs.c.id == run.id)).first() is not None:
            _check_same(source, target, run, store.place)
            return False
        for table in SHARED:
            _add_unknown(source, target, table)
        # Verdicts that came with another run, which had them from this one, come again with all the others.
        target.execute(delete(tables.verdicts).where(tables.verdicts.c.run == run.id))
        for table in OWN:
            if table is tables.verdicts:
                _add_unknown(source, target, table)
                continue
            for page in _pages(source, table, _of(table, run.id)):
                target.execute(insert(table), page)
        return True


def _add_unknown(source: Connection, target: Connection, table: Table) -> None:
    key = _known_by(table)
    for page in _pages(source, table):
        same = or_(*(and_(*(table.c[name] == row[name] for name in key)) for row in page))
        known = {tuple(row) for row in target.execute(select(*(table.c[name] for name in key)).where(same))}
        new = [row for row in page if tuple(row[name] for name in key) not in known]
        if new:
            target.execute(insert(table), new)


def _known_by(table: Table) -> tuple[str, ...]:
    if table is tables.verdicts:
        return ("run", "job", "judge")
    return ("backend", "hash") if table is tables.genomes else ("hash",)


def _check_same(source: Connection, target: Connection, run: Run, place: Place) -> None:
    if _content(source, run.id) != _content(target, run.id):
        raise StoreError(
            f"run {run.id} is in {place} already, and has other rows there: it went on there or elsewhere",
            "import the file into another store, or export the run from there once more; nothing was changed",
        )


def _content(connection: Connection, run: str) -> str:
    """A hash of all that is a run's own."""
    hashed = hashlib.sha256()
    for table in OWN:
        for page in _pages(connection, table, _of(table, run)):
            for row in page:
                hashed.update(json.dumps([table.name, row], sort_keys=True).encode())
    return hashed.hexdigest()


# Rows


def _of(table: Table, run: str) -> Condition:
    return table.c.id == run if table is tables.runs else table.c.run == run


def _pages(connection: Connection, table: Table, *conditions: Condition) -> Iterator[list[Row]]:
    """Rows in order, without their numbers, which are another store's to give."""
    key = table.c.seq if "seq" in table.c else table.c.hash
    query: Select[Any] = select(table).where(*conditions).order_by(key).limit(PAGE)
    page = connection.execute(query).mappings().all()
    while page:
        yield [{name: value for name, value in row.items() if name != "seq"} for row in page]
        page = connection.execute(query.where(key > page[-1][key.name])).mappings().all()


# The seal


def _check_seal(file: Path) -> None:
    """On the file as it is, whichever form its tables have."""
    with _opened(file) as connection:
        sealed = _schema.written(connection, _schema.SEALED)
        if sealed is None:
            raise StoreError(
                f"{file} is a store, and not a run that was exported from one",
                f"export a run of it first: kernelwright store export RUN FILE --store {file}",
            )
        whole = connection.execute(text("pragma integrity_check(1)")).scalar_one() == "ok"
        if not whole or _seal(connection) != sealed:
            raise StoreError(
                f"{file} is damaged: it does not hold what was exported",
                "copy or export it again; nothing was imported",
            )


@contextmanager
def _opened(file: Path) -> Iterator[Connection]:
    database = SqliteFile(file)
    engine = database.reader()
    try:
        with told(database), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _seal(connection: Connection) -> str:
    """A hash of all rows, of whichever tables and columns there are; the form of the tables with them."""
    hashed = hashlib.sha256()
    hashed.update(f"form {_schema.written(connection, 'form')}".encode())
    known = inspect(connection)
    for table in sorted(set(known.get_table_names()) - {tables.about.name, _schema.mark.name}):
        names = sorted(column["name"] for column in known.get_columns(table))
        hashed.update(json.dumps([table, names]).encode())
        columns = ", ".join(f'"{name}"' for name in names)
        for row in connection.exec_driver_sql(f'select {columns} from "{table}" order by rowid'):
            hashed.update(json.dumps([_plain(value) for value in row]).encode())
    return hashed.hexdigest()


def _plain(value: Any) -> Any:
    return {"bytes": hashlib.sha256(value).hexdigest()} if isinstance(value, bytes) else value
