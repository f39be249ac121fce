"""How the file is opened: by one connection that writes, by others that read and never make it wait.

SQLite's words stand here and in `_error.py` only; another database would be another file beside this one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

PATIENCE_MS = 10_000
# Every commit reaches the disk before it is acknowledged; the log beside the file lets readers read meanwhile.
WRITING = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
READING = ("query_only=ON",)


def writer(path: Path) -> Engine:
    return _engine(path, {"mode": "rwc"}, WRITING, begin="BEGIN IMMEDIATE", pool_size=1, max_overflow=0)


def reader(path: Path) -> Engine:
    return _engine(path, _as_allowed(path), READING, begin="BEGIN")


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
