"""The first form. Stores of version 0.1 have it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create("about", _key("name"), _text("value"))
    _create("tasks", _key("hash"), _long("wire"))
    _create(
        "runs",
        _seq(),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("task", sa.String, sa.ForeignKey("tasks.hash"), nullable=False),
        *(_long(name) for name in ("settings", "versions", "machine")),
        sa.Column("state", sa.String(16), nullable=False),
        _text("reason"),
        _real("noted"),
    )
    _create("sittings", _seq(), _run(), _real("noted"), _real("seen"))
    _requests_and_replies()
    _candidates_and_verdicts()
    _create(
        "moves",
        _seq(),
        _run(),
        *(_text(name) for name in ("kind", "candidate")),
        _text("parent", False),
        _long("cell", False),
        _long("data"),
        _real("noted"),
    )
    _create(
        "genomes",
        _seq(),
        *(_text(name) for name in ("hash", "backend")),
        _text("parent", False),
        _long("regions"),
        _text("run", False),
        _real("noted"),
        sa.UniqueConstraint("backend", "hash"),
    )
    _create(
        "outcomes",
        _seq(),
        _run(),
        *(_text(name) for name in ("genome", "backend", "candidate")),
        _real("gain", False),
        _real("noted"),
    )
    op.create_index("ix_outcomes_genome", "outcomes", ["backend", "genome"])
    _create("events", _seq(), _run(), _text("kind"), _long("data"), _real("noted"))
    for table in ("sittings", "requests", "replies", "births", "verdicts", "moves", "outcomes", "events"):
        op.create_index(f"ix_{table}_run", table, ["run"])


def _requests_and_replies() -> None:
    _create(
        "requests",
        _seq(),
        _run(),
        *(_text(name) for name in ("id", "kind", "backend")),
        sa.Column("prompt", sa.LargeBinary, nullable=False),
        _text("model"),
        *(_text(name, False) for name in ("parent", "genome")),
        _long("direction", False),
        _text("dropped", False),
        _real("noted"),
        sa.UniqueConstraint("run", "id"),
    )
    _create(
        "replies",
        _seq(),
        _run(),
        _text("request"),
        sa.Column("text", sa.LargeBinary, nullable=False),
        _text("model"),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("tokens_in", "tokens_out")),
        _real("dollars", False),
        _real("seconds"),
        _text("finish"),
        _real("noted"),
        sa.ForeignKeyConstraint(["run", "request"], ["requests.run", "requests.id"]),
    )
    op.create_index("ix_replies_request", "replies", ["run", "request"])


def _candidates_and_verdicts() -> None:
    source = sa.Column("source", sa.LargeBinary, nullable=False)
    _create("candidates", _key("hash"), source, _text("backend"), _real("noted"))
    _create(
        "births",
        _seq(),
        _run(),
        sa.Column("candidate", sa.String, sa.ForeignKey("candidates.hash"), nullable=False),
        *(_text(name, False) for name in ("request", "parent", "genome")),
        _long("direction", False),
        _real("noted"),
    )
    op.create_index("ix_births_candidate", "births", ["candidate"])
    op.create_index("ix_births_request", "births", ["run", "request"])
    _create(
        "verdicts",
        _seq(),
        _run(),
        _text("job"),
        sa.Column("candidate", sa.String, sa.ForeignKey("candidates.hash"), nullable=False),
        *(_text(name) for name in ("task", "device", "judge")),
        sa.Column("used", sa.Boolean, nullable=False),
        _text("status"),
        sa.Column("accepted", sa.Boolean, nullable=False),
        _real("seconds"),
        _long("verdict"),
        _real("noted"),
        sa.UniqueConstraint("run", "job", "judge"),
    )
    op.create_index("ix_verdicts_candidate", "verdicts", ["candidate", "task"])


def _create(name: str, *parts: Any) -> None:
    op.create_table(name, *parts)


def _seq() -> Any:
    return sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def _key(name: str) -> Any:
    return sa.Column(name, sa.String, primary_key=True)


def _run() -> Any:
    return sa.Column("run", sa.String, sa.ForeignKey("runs.id"), nullable=False)


def _text(name: str, needed: bool = True) -> Any:
    return sa.Column(name, sa.String, nullable=not needed)


def _long(name: str, needed: bool = True) -> Any:
    return sa.Column(name, sa.Text, nullable=not needed)


def _real(name: str, needed: bool = True) -> Any:
    return sa.Column(name, sa.Float, nullable=not needed)
