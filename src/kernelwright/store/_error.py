"""The one error of this room: what is wrong with the store, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

# SQLite's primary result codes: https://sqlite.org/rescode.html
BUSY, READ_ONLY, IO, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE = 5, 8, 10, 11, 13, 14, 26
KEPT = "nothing that was acknowledged is lost"
SENTENCES = {
    BUSY: ("is being written by another program", "wait for it, or give this run a store of its own"),
    READ_ONLY: ("cannot be written", "make the file and its folder writable, or choose another place"),
    IO: (f"cannot be written or read, the disk refuses; {KEPT}", "look for a full or failing disk, then resume"),
    CORRUPT: ("is damaged", "restore it from a copy; `sqlite3 FILE .recover` saves what is left"),
    FULL: (f"cannot grow, the disk is full; {KEPT}", "make room, then resume"),
    CANNOT_OPEN: ("cannot be opened", "check that the folder exists and is writable"),
    NOT_A_DATABASE: ("is not a store: it is no SQLite database", "give another path; this file was left as it is"),
}


class StoreError(Exception):
    """The store cannot do that: one sentence, and what to do next."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what}\n  fix: {self.fix}" if self.fix else self.what


class DiskError(StoreError):
    """The disk refuses: it is full, a quota is used up, or it fails."""


@contextmanager
def told(place: Path) -> Iterator[None]:
    """What the database refuses, as a sentence about this store."""
    try:
        yield
    except DBAPIError as error:
        raise _translated(place, error) from error


@contextmanager
def placed(place: Path) -> Iterator[None]:
    """What the file system refuses while the store is opened."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{place} cannot be used: {error.strerror or error}", "choose another place") from error


def _translated(place: Path, error: DBAPIError) -> StoreError:
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    what, fix = SENTENCES.get(code, (f"failed: {error.orig}", ""))
    kind = DiskError if code in (FULL, IO) else StoreError
    return kind(f"{place} {what}", fix)
