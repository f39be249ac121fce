"""Where a store is: a file, or a database on a PostgreSQL server. Passwords are used and never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from kernelwright.store._error import StoreError

ENVIRONMENT = "KERNELWRIGHT_STORE"
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
SECRET = ("password", "sslpassword")
FORM = "postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True)
class Place:
    """A file or a server's database; `str` gives what can be said of it again, which is without its password.

    Attributes:
        path: The file; None where a server keeps the store.
        url: The server's database; None where a file is the store.
    """

    path: Path | None = None
    url: URL | None = field(default=None, repr=False)

    @classmethod
    def at(cls, said: Place | Path | str) -> Place:
        """As a user says it: a path, or an address with `://` in it."""
        if isinstance(said, Place):
            return said
        if isinstance(said, str) and "://" in said:
            return cls(url=_with_password(_address(said)))
        return cls(path=Path(said))

    def __str__(self) -> str:
        return str(self.path) if self.url is None else _shown(self.url)

    @property
    def identity(self) -> str:
        """The same for two names of one file."""
        return str(self) if self.path is None else str(self.path.resolve())


def _address(said: str) -> URL:
    scheme, _, rest = said.partition("://")
    if scheme not in SCHEMES:
        what = f"{_veiled(said)} is no place for a store: it is neither a file nor on PostgreSQL"
        raise StoreError(what, f"give a path, or {FORM}")
    try:
        url = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError) as error:
        raise StoreError(f"{_veiled(said)} cannot be read as an address", f"write {FORM}") from error
    if not url.database:
        raise StoreError(f"{_shown(url)} names no database", f"write {FORM}")
    return url


def _with_password(url: URL) -> URL:
    """The environment may know the password to an address that is said without."""
    known = os.environ.get(ENVIRONMENT, "")
    if "://" not in known or any(url.query.get(name) for name in SECRET) or url.password:
        return url
    try:
        there = _address(known)
    except StoreError:
        return url  # whoever asks for that place is told
    return there if _shown(there) == _shown(url) else url


def _shown(url: URL) -> str:
    without = url.difference_update_query(SECRET)
    plain = without.set(drivername="postgresql")._replace(password=None)
    # Folders of sockets stand in the query as they are, to be read by people.
    return plain.render_as_string().replace("%2F", "/")


def _veiled(said: str) -> str:
    """An address that cannot be read may hold a password anywhere before the last @, and after a word that says so."""
    veiled = re.sub(r"://.*@", "://***@", said)
    return re.sub(r"(password=)[^&]*", r"\1***", veiled)
