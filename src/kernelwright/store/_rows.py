"""From records to rows and back: fields and columns bear the same names."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Table, insert

Record = TypeVar("Record")


def made(kind: type[Record], row: Row[Any]) -> Record:
    values = row._mapping
    return kind(**{field.name: values[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def add(connection: Connection, table: Table, record: Any, **more: Any) -> None:
    values = {field.name: getattr(record, field.name) for field in fields(record)} | {"noted": time.time()} | more
    values.pop("seq", None)
    connection.execute(insert(table).values(values))
