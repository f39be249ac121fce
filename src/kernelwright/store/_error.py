"""The one error of this room: what is wrong with the store, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy.exc import DBAPIError

KEPT = "nothing that was acknowledged is lost"


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


class Explains(Protocol):
    def explained(self, error: DBAPIError) -> StoreError: ...


@contextmanager
def told(database: Explains) -> Iterator[None]:
    """What the database refuses, as a sentence about this store."""
    try:
        yield
    except DBAPIError as error:
        raise database.explained(error) from error


@contextmanager
def placed(place: object) -> Iterator[None]:
    """What the file system refuses while the store is opened."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{place} cannot be used: {error.strerror or error}", "choose another place") from error
