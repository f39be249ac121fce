"""A PostgreSQL server of one's own: from the binaries that are installed here, in a folder that goes away with it."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0
# Of the tests alone: a server that loses its machine loses its data, which no test is about.
FAST = ("fsync=off", "full_page_writes=off", "max_connections=80", "listen_addresses=127.0.0.1")
# Who may run a server where the tests are run by root, who may not.
UNPRIVILEGED = ("postgres", "nobody")


def binaries() -> Path | None:
    """Where `initdb` and `postgres` are: Debian keeps them out of the way."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    in_path = shutil.which("postgres")
    every = [Path(in_path)] if in_path else found[::-1]
    return next((path.parent for path in every if (path.parent / "initdb").exists()), None)


def _user() -> str | None:
    """Who runs it; None for who runs the tests."""
    if os.geteuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in UNPRIVILEGED if name in names)


class Server:
    """Reached through a socket by whoever is on this machine, and at a port of 127.0.0.1 by who knows a password."""

    def __init__(self, programs: Path) -> None:
        self._programs, self._user = programs, _user()
        self.folder = Path(tempfile.mkdtemp(prefix="kernelwright-postgres-"))
        if self._user:
            shutil.chown(self.folder, self._user)
        self.folder.chmod(0o755)
        self.port = _free_port()
        self._numbers = count(1)
        self.admin = getpass.getuser() if self._user is None else self._user
        self._initialise()
        self.start()

    def _as_user(self) -> dict[str, Any]:
        env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        if self._user is None:
            return {"env": env, "cwd": self.folder}
        group = pwd.getpwnam(self._user).pw_gid
        return {"user": self._user, "group": group, "extra_groups": [], "env": env, "cwd": self.folder}

    def _initialise(self) -> None:
        initdb = [self._programs / "initdb", "-D", self.folder / "data", "-U", self.admin, "--no-sync", "-E", "UTF8"]
        rules = ["--auth-local=trust", "--auth-host=scram-sha-256"]
        subprocess.run([*initdb, *rules], check=True, capture_output=True, **self._as_user())

    def start(self) -> None:
        settings = [part for setting in FAST for part in ("-c", setting)]
        where = ["-D", self.folder / "data", "-k", self.folder, "-p", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *where, *settings], stdout=log, stderr=log, **self._as_user()
            )
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: connections are cut, and what was committed is kept."""
        if self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE_S)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self._target("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _target(self, database: str) -> str:
        return f"host={self.folder} port={self.port} user={self.admin} dbname={database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self._target(database), autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[call-overload]
            return list(cursor.fetchall()) if cursor.description else []

    def fresh(self) -> str:
        """The address of a database with nothing in it."""
        name = f"runs_{next(self._numbers)}"
        self.execute(f"create database {name} template template0")
        return self.address(name)

    def address(self, database: str, user: str | None = None) -> str:
        return f"postgresql://{user or self.admin}@/{database}?host={self.folder}&port={self.port}"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
