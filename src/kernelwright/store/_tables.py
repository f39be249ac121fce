"""The tables. Rows are added, hardly ever changed; `seq` is the order in which they came, `noted` the time of day.

One set of tables for both databases. Columns bear the names of the fields of the records in `_records.py`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Enum,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from kernelwright.store._columns import Exact, Json, Name, Number
from kernelwright.store._records import State

metadata = MetaData()
STATES = Enum(State, native_enum=False, length=16, values_callable=lambda states: [str(state) for state in states])


def _seq() -> Column[int]:
    return Column("seq", Number, primary_key=True)


def _noted() -> Column[float]:
    return Column("noted", Float, nullable=False)


def _run() -> Column[str]:
    return Column("run", Name, ForeignKey("runs.id"), nullable=False, index=True)


def _needed(name: str, kind: Any = Name) -> Column[Any]:
    return Column(name, kind, nullable=False)


about = Table("about", metadata, Column("name", Name, primary_key=True), _needed("value"))

tasks = Table("tasks", metadata, Column("hash", Name, primary_key=True), _needed("wire", Json))

runs = Table(
    "runs",
    metadata,
    _seq(),
    Column("id", Name, nullable=False, unique=True),
    Column("task", Name, ForeignKey("tasks.hash"), nullable=False),
    _needed("settings", Json),
    _needed("versions", Json),
    _needed("machine", Json),
    _needed("state", STATES),
    _needed("reason"),
    _noted(),
)

sittings = Table("sittings", metadata, _seq(), _run(), _noted(), _needed("seen", Float))

requests = Table(
    "requests",
    metadata,
    _seq(),
    _run(),
    _needed("id"),
    _needed("kind"),
    _needed("backend"),
    _needed("prompt", Exact),
    _needed("model"),
    Column("parent", Name),
    Column("genome", Name),
    Column("direction", Json),
    Column("dropped", Name),
    _noted(),
    UniqueConstraint("run", "id"),
)

replies = Table(
    "replies",
    metadata,
    _seq(),
    _run(),
    _needed("request"),
    _needed("text", Exact),
    _needed("model"),
    _needed("tokens_in", Integer),
    _needed("tokens_out", Integer),
    Column("dollars", Float),
    _needed("seconds", Float),
    _needed("finish"),
    _noted(),
    ForeignKeyConstraint(["run", "request"], ["requests.run", "requests.id"]),
    Index("ix_replies_request", "run", "request"),
)

candidates = Table(
    "candidates",
    metadata,
    Column("hash", Name, primary_key=True),
    _needed("source", Exact),
    _needed("backend"),
    _noted(),
)

births = Table(
    "births",
    metadata,
    _seq(),
    _run(),
    Column("candidate", Name, ForeignKey("candidates.hash"), nullable=False, index=True),
    Column("request", Name),
    Column("parent", Name),
    Column("genome", Name),
    Column("direction", Json),
    _noted(),
    Index("ix_births_request", "run", "request"),
)

verdicts = Table(
    "verdicts",
    metadata,
    _seq(),
    Column("run", Name, nullable=False, index=True),  # who paid; that run may be in another store
    _needed("job"),
    Column("candidate", Name, ForeignKey("candidates.hash"), nullable=False),
    _needed("task"),
    _needed("device"),
    _needed("judge"),
    _needed("used", Boolean),
    _needed("status"),
    _needed("accepted", Boolean),
    _needed("seconds", Float),
    _needed("verdict", Json),
    _noted(),
    UniqueConstraint("run", "job", "judge"),
    Index("ix_verdicts_candidate", "candidate", "task"),
)

moves = Table(
    "moves",
    metadata,
    _seq(),
    _run(),
    _needed("kind"),
    _needed("candidate"),
    Column("parent", Name),
    Column("cell", Json),
    _needed("data", Json),
    _noted(),
)

genomes = Table(
    "genomes",
    metadata,
    _seq(),
    _needed("hash"),
    _needed("backend"),
    Column("parent", Name),
    _needed("regions", Json),
    Column("run", Name),
    _noted(),
    UniqueConstraint("backend", "hash"),
)

outcomes = Table(
    "outcomes",
    metadata,
    _seq(),
    _run(),
    _needed("genome"),
    _needed("backend"),
    _needed("candidate"),
    Column("gain", Float),
    _noted(),
    Index("ix_outcomes_genome", "backend", "genome"),
)

events = Table("events", metadata, _seq(), _run(), _needed("kind"), _needed("data", Json), _noted())
