"""Two kinds of columns: text kept to the byte, and values as JSON. Both mean the same in SQLite and PostgreSQL."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Dialect, LargeBinary, Text, TypeDecorator


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
