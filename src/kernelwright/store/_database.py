"""What a database must know how to do; the rest of this room is the same on all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kernelwright.store._error import StoreError
from kernelwright.store._owner import Owner
from kernelwright.store._place import Place
from kernelwright.store._postgres import PostgresServer
from kernelwright.store._sqlite import SqliteFile


class Database(Protocol):
    def explained(self, error: DBAPIError) -> StoreError:
        """What it refused, as a sentence."""

    def check_there(self) -> None:
        """Raises where there is certainly no store."""

    def reader(self) -> Engine: ...

    def holder(self, connection: Connection, run: str) -> Owner | None:
        """Who may write into this run now."""

    def copied(self, connection: Connection, to: Path) -> Database:
        """A copy that may be brought up to date, for who may only read; raises where none can be made."""

    def about(self, connection: Connection) -> str:
        """What keeps the store, in a few words."""

    def take(self) -> Owner | None:
        """Before anything is written; who did before and has not closed."""

    def writer(self) -> Engine: ...

    def take_turn(self, connection: Connection) -> None:
        """At the start of a transaction that writes."""

    def claim(self, connection: Connection, run: str) -> None:
        """The right to write into a run; raises where another program has it."""

    def be_alone(self, connection: Connection) -> None:
        """Raises where another program writes into the store."""

    def reserve(self) -> None:
        """Room for what was paid for; `give_room` frees it, and says whether there was any."""

    def give_room(self) -> bool: ...

    def release(self) -> None:
        """Gives back what was taken."""


def database(place: Place) -> Database:
    if place.url is not None:
        return PostgresServer(place.url, str(place))
    assert place.path is not None
    return SqliteFile(place.path)
