"""A store in a file: opened by one connection that writes, by others that read and never make it wait.

SQLite's words stand here only; PostgreSQL's stand in `_postgres.py`.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from kernelwright.store._error import KEPT, DiskError, StoreError, placed
from kernelwright.store._lock import Lock, holder
from kernelwright.store._owner import Owner
from kernelwright.store._reserve import Reserve

PATIENCE_MS = 10_000
# Every commit reaches the disk before it is acknowledged; the log beside the file lets readers read meanwhile.
WRITING = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
# A file that nobody reads before it is whole needs nothing beside it.
ALONE = ("journal_mode=DELETE", "synchronous=FULL", "foreign_keys=ON")
READING = ("query_only=ON",)

# SQLite's primary result codes: https://sqlite.org/rescode.html
BUSY, READ_ONLY, IO, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE = 5, 8, 10, 11, 13, 14, 26
SENTENCES = {
    BUSY: ("is being written by another program", "wait for it, or give this run a store of its own"),
    READ_ONLY: ("cannot be written", "make the file and its folder writable, or choose another place"),
    IO: (f"cannot be written or read, the disk refuses; {KEPT}", "look for a full or failing disk, then resume"),
    CORRUPT: ("is damaged", "restore it from a copy; `sqlite3 FILE .recover` saves what is left"),
    FULL: (f"cannot grow, the disk is full; {KEPT}", "make room, then resume"),
    CANNOT_OPEN: ("cannot be opened", "check that the folder exists and is writable"),
    NOT_A_DATABASE: ("is not a store: it is no SQLite database", "give another path; this file was left as it is"),
}


class SqliteFile:
    """The whole file belongs to one writer: turns and runs need no locks of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reserve = Reserve(path)
        self._lock: Lock | None = None

    def explained(self, error: DBAPIError) -> StoreError:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        what, fix = SENTENCES.get(code, (f"failed: {error.orig}", ""))
        kind = DiskError if code in (FULL, IO) else StoreError
        return kind(f"{self._path} {what}", fix)

    # Reading

    def check_there(self) -> None:
        if not self._path.is_file():
            raise StoreError(f"there is no store at {self._path}", "check the path; a run makes one")

    def reader(self) -> Engine:
        return _engine(self._path, _as_allowed(self._path), READING, begin="BEGIN")

    def holder(self, connection: Connection, run: str) -> Owner | None:
        return holder(self._path)

    def copied(self, connection: Connection, to: Path) -> SqliteFile:
        """All that is in the file at this moment, in another."""
        source: Any = connection.connection.driver_connection
        with closing(sqlite3.connect(to)) as target:
            source.backup(target)
        return SqliteFile(to)

    def about(self, connection: Connection) -> str:
        return f"SQLite {sqlite3.sqlite_version}, {self._path.stat().st_size / 1e6:.1f} MB"

    # Writing

    def take(self) -> Owner | None:
        """The right to write; who had it before and ended without giving it back."""
        with placed(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self._path)
        return self._lock.left_by

    def writer(self) -> Engine:
        return _engine(self._path, {"mode": "rwc"}, WRITING, begin="BEGIN IMMEDIATE", pool_size=1, max_overflow=0)

    def filler(self) -> Engine:
        """For who makes a file that nobody else knows yet."""
        return _engine(self._path, {"mode": "rwc"}, ALONE, begin="BEGIN IMMEDIATE", pool_size=1, max_overflow=0)

    def take_turn(self, connection: Connection) -> None: ...

    def claim(self, connection: Connection, run: str) -> None: ...

    def be_alone(self, connection: Connection) -> None: ...

    def reserve(self) -> None:
        self._reserve.take()

    def give_room(self) -> bool:
        return self._reserve.give_up()

    def release(self) -> None:
        self._reserve.give_up()
        if self._lock is not None:
            self._lock.close()


def _as_allowed(path: Path) -> dict[str, str]:
    """Where nobody can write, nobody does: then SQLite needs no files beside this one, which it could not make."""
    if os.access(path.parent, os.W_OK):
        return {"mode": "rw"}
    return {"mode": "ro"} if _log(path).exists() else {"mode": "ro", "immutable": "1"}


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _engine(path: Path, query: dict[str, str], pragmas: tuple[str, ...], *, begin: str, **pool: int) -> Engine:
    name = path.absolute().as_uri()
    url = URL.create("sqlite+pysqlite", database=name.replace("file://", "file:", 1), query={**query, "uri": "true"})
    engine = create_engine(url, **pool)

    def set_up(connection: Any, _: object) -> None:
        # Transactions are begun below and not by Python's driver, which would not include changes of tables.
        connection.isolation_level = None
        for pragma in (f"busy_timeout={PATIENCE_MS}", *pragmas):
            connection.execute(f"PRAGMA {pragma}")

    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", start)
    return engine
