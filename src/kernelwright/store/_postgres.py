"""A store on a PostgreSQL server: several programs write, each its own runs, one transaction at a time.

All locks are the server's advisory ones, held by the connection that writes: they end with it, however it ends, and
nothing can be written without them. Needs the extra `postgres`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import time
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from kernelwright.store._error import KEPT, DiskError, StoreError
from kernelwright.store._owner import HELD, Owner, myself

PATIENCE_MS = 10_000
# The server needs a moment to notice that a program was killed.
TRIES, BETWEEN_S = 40, 0.05
# What is set in every session: nobody makes the others wait for ever, and who is gone is noticed.
SETTINGS = {
    "lock_timeout": f"{PATIENCE_MS}ms",
    "idle_in_transaction_session_timeout": "60s",
    "client_connection_check_interval": "1s",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "synchronous_commit": "on",
}
OLDEST = 140_000
LETTERS_OF_HOST = 30
NAME = re.compile(r"kernelwright (\d+)@(\S*) (\d+)")

LOCK_TIMEOUT, DISK_FULL, READ_ONLY, NO_DATABASE, TOO_MANY = "55P03", "53100", "25006", "3D000", "53300"
DENIED, LOGIN = ("42501",), ("28P01", "28000")
SAY_PASSWORD = "set PGPASSWORD, write a pgpass file, or put the whole address into KERNELWRIGHT_STORE"
GONE = (f"cannot be reached any more, the connection was lost; {KEPT}", "when the server is back, resume")
SENTENCES = {
    LOCK_TIMEOUT: ("is being written by another program", "wait for it, or look for one that hangs"),
    DISK_FULL: (f"cannot grow, the server's disk is full; {KEPT}", "make room there, then resume"),
    READ_ONLY: ("cannot be written: the server only lets it be read", "name the primary server"),
    TOO_MANY: ("has no connection left", "end other programs, or raise max_connections there"),
}
# Before there is a session the server's code is not told, only its words.
WORDS = (
    (r"no password supplied|password authentication failed|no pg_hba.conf entry|role .* does not exist", LOGIN[0]),
    (r"database .* does not exist", NO_DATABASE),
    (r"too many clients|remaining connection slots", TOO_MANY),
)

HOLDERS = text(
    "select a.application_name from pg_locks l join pg_stat_activity a on a.pid = l.pid "
    "where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = :high and l.objid = :low "
    "and l.database = (select oid from pg_database where datname = current_database()) "
    "and a.pid <> pg_backend_pid() order by a.pid limit 1"
)


def _key(*words: str) -> int:
    """Of a lock: a number of 64 bits with its sign."""
    digest = hashlib.sha256(" ".join(("kernelwright", *words)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


# Who writes at this moment; who may write at all, shared by all who do, alone for who changes the tables.
TURN, PRESENCE = _key("turn"), _key("presence")


class PostgresServer:
    def __init__(self, url: URL, shown: str) -> None:
        if importlib.util.find_spec("psycopg") is None:
            fix = "pip install 'kernelwright[postgres]'"
            raise StoreError(f"{shown} needs psycopg, which is not installed here", fix)
        self._url, self._shown = url, shown

    def explained(self, error: DBAPIError) -> StoreError:
        code = _code(error)
        what, fix = self._sentence(code, error)
        return (DiskError if code == DISK_FULL else StoreError)(f"{self._shown} {what}", fix)

    def _sentence(self, code: str | None, error: DBAPIError) -> tuple[str, str]:
        if code in SENTENCES:
            return SENTENCES[code]
        if code in LOGIN:
            return f"lets nobody in as {self._user()} with this password or none", SAY_PASSWORD
        if code == NO_DATABASE:
            return "is a server without that database", f"make it there: createdb {self._url.database}"
        if code in DENIED:
            return f"may not be used so by {self._user()}", "have its owner grant the right, or name another user"
        if error.connection_invalidated:
            return GONE
        if code is None:
            return f"cannot be reached: {_first_line(error)}", "check the address, and that the server runs"
        return f"failed: {_first_line(error)}", ""

    def _user(self) -> str:
        return self._url.username or "you"

    # Reading

    def check_there(self) -> None: ...

    def reader(self) -> Engine:
        """What is read on one connection at a time is of one moment."""
        engine = create_engine(self._url, pool_size=2, pool_pre_ping=True, isolation_level="REPEATABLE READ")
        event.listen(engine, "connect", lambda connection, _: _set_up(connection, default_transaction_read_only="on"))
        return engine

    def holder(self, connection: Connection, run: str) -> Owner | None:
        return _holder(connection, _key("run", run))

    def copied(self, connection: Connection, to: Path) -> NoReturn:
        raise StoreError(
            f"{self._shown} was written by an older version",
            f"bring it up to date, while nobody writes: kernelwright store migrate --store {self._shown}",
        )

    def about(self, connection: Connection) -> str:
        return f"PostgreSQL {connection.execute(text('show server_version')).scalar_one()}"

    # Writing

    def take(self) -> None:
        """There is nothing to be had before somebody is connected."""

    def writer(self) -> Engine:
        """One connection, once: with it the locks would be lost, and a second one could write without them."""
        engine = create_engine(self._url, pool_size=1, max_overflow=0)
        connected: list[Any] = []

        def set_up(connection: Any, _: object) -> None:
            if connected:
                raise StoreError(f"{self._shown} {GONE[0]}", GONE[1])
            self._check_version(connection)
            _set_up(connection, application_name=_named(myself()))
            connection.execute("select pg_advisory_lock_shared(%s)", [PRESENCE])
            connection.commit()
            connected.append(connection)

        event.listen(engine, "connect", set_up)
        return engine

    def _check_version(self, connection: Any) -> None:
        if connection.info.server_version < OLDEST:
            found = connection.info.server_version // 10_000
            raise StoreError(f"{self._shown} is PostgreSQL {found}", f"use {OLDEST // 10_000} or later")

    def take_turn(self, connection: Connection) -> None:
        """Until the end of the transaction: rows become visible in the order in which they are numbered."""
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": TURN})

    def claim(self, connection: Connection, run: str) -> None:
        """The right to write into a run, until the connection ends."""
        key = _key("run", run)
        for _ in range(TRIES):
            if _asked(connection, "pg_try_advisory_lock", key):
                return
            time.sleep(BETWEEN_S)
        owner = _holder(connection, key) or "another program"
        fix = f"wait for it or stop it, or begin another run; {HELD}"
        raise StoreError(f"run {run} in {self._shown} is in use by {owner}", fix)

    def be_alone(self, connection: Connection) -> None:
        """Until the end of the transaction, or not at all."""
        if not _asked(connection, "pg_try_advisory_xact_lock", PRESENCE):
            raise StoreError(
                f"{self._shown} was written by an older version, and is in use by "
                f"{_holder(connection, PRESENCE) or 'another program'}",
                "wait until nobody writes; then the next who does brings it up to date",
            )

    def reserve(self) -> None: ...

    def give_room(self) -> bool:
        return False

    def release(self) -> None: ...


def _set_up(connection: Any, **more: str) -> None:
    for name, value in {**SETTINGS, **more}.items():
        connection.execute("select set_config(%s, %s, false)", [name, value])
    connection.commit()


def _asked(connection: Connection, function: str, key: int) -> bool:
    return bool(connection.execute(text(f"select {function}(:key)"), {"key": key}).scalar_one())


def _holder(connection: Connection, key: int) -> Owner | None:
    halves = {"high": (key >> 32) & 0xFFFFFFFF, "low": key & 0xFFFFFFFF}
    name = connection.execute(HOLDERS, halves).scalar_one_or_none()
    found = NAME.match(name or "")
    return Owner(int(found[1]), found[2], float(found[3])) if found else None


def _named(owner: Owner) -> str:
    """What the server shows of a session; 63 letters at most."""
    host = owner.host.encode("ascii", "replace").decode()[:LETTERS_OF_HOST]
    return f"kernelwright {owner.pid}@{host} {owner.since:.0f}"


def _code(error: DBAPIError) -> str | None:
    code = getattr(error.orig, "sqlstate", None)
    words = str(error.orig)
    return code or next((known for pattern, known in WORDS if re.search(pattern, words)), None)


def _first_line(error: DBAPIError) -> str:
    return next(iter(str(error.orig).splitlines()), "no reason was given")
