"""Columns that mean the same in SQLite and PostgreSQL: names, text kept to the byte, values as JSON, row numbers."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, String, Text, TypeDecorator

# SQLite numbers rows by themselves only where they are called INTEGER, which is as wide there.
Number = BigInteger().with_variant(Integer, "sqlite")


class Name(TypeDecorator[str]):
    """Names, hashes and reasons. What no database takes in a text, NUL and lone surrogates, becomes a question mark."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else value.replace("\x00", "?").encode(errors="replace").decode()


class Exact(TypeDecorator[str]):
    """Text that others wrote, to the byte: NUL and lone surrogates, which text columns refuse, come back as they were.

    The bytes are those that a candidate's hash is taken of.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else value.encode(errors="surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else bytes(value).decode(errors="surrogatepass")


class Json(TypeDecorator[Any]):
    """A value as JSON text. Nothing is asked of its inside by the database, and infinities are let through."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)
