"""Alembic's door: it runs this file. The connection and its transaction are the caller's."""

from __future__ import annotations

from alembic import context

from kernelwright.store._tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
