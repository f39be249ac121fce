"""Who writes into a store that is a file: one program at a time, by name. The lock of one that died is free."""

from __future__ import annotations

import contextlib
import fcntl
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from kernelwright.store._error import StoreError
from kernelwright.store._owner import HELD, Owner, myself

# Somebody who only looks whether the lock is held holds it himself for a moment.
TRIES, BETWEEN_S = 5, 0.02


class Lock:
    """The right to write, until `close` or the end of the process, whichever way that comes.

    Attributes:
        left_by: Who held it before and ended without giving it back, if somebody did.
    """

    def __init__(self, store: Path) -> None:
        self._file = _place(store).open("a+", encoding="utf-8")
        if not _taken(self._file):
            owner = _read(self._file)
            self._file.close()
            raise StoreError(
                f"{store} is in use by {owner or 'another program'}",
                f"wait for it or stop it, or give this run a store of its own; {HELD}",
            )
        self.left_by = _read(self._file)
        self._write(json.dumps(asdict(myself())))

    def close(self) -> None:
        if not self._file.closed:
            with contextlib.suppress(OSError), self._file:
                self._write("")

    def _write(self, text: str) -> None:
        self._file.truncate(0)
        self._file.write(text)
        self._file.flush()


def holder(store: Path) -> Owner | None:
    """Who is writing into this store now."""
    try:
        file = _place(store).open(encoding="utf-8")
    except OSError:
        return None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read(file)
        return None


def _place(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


def _taken(file: TextIO) -> bool:
    for _ in range(TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(BETWEEN_S)
        else:
            return True
    return False


def _read(file: TextIO) -> Owner | None:
    """None where nothing readable stands there: its owner may be just about to write."""
    file.seek(0)
    try:
        return Owner(**json.loads(file.read()))
    except (ValueError, TypeError):
        return None
