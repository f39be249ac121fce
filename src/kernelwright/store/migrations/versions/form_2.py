"""A verdict may stand in a store without the run that paid for it: one that came along with another run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild()
    else:
        op.drop_constraint("verdicts_run_fkey", "verdicts", type_="foreignkey")


def _rebuild() -> None:
    """SQLite cannot let go of one rule; the table is written again without it."""
    with op.batch_alter_table("verdicts", recreate="always", copy_from=_verdicts()):
        pass


def _verdicts() -> sa.Table:
    return sa.Table(
        "verdicts",
        sa.MetaData(),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("job", sa.String, nullable=False),
        sa.Column("candidate", sa.String, sa.ForeignKey("candidates.hash"), nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("task", "device", "judge")),
        sa.Column("used", sa.Boolean, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("noted", sa.Float, nullable=False),
        sa.UniqueConstraint("run", "job", "judge"),
        sa.Index("ix_verdicts_run", "run"),
        sa.Index("ix_verdicts_candidate", "candidate", "task"),
    )
