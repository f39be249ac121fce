"""Alembic, told where the revisions are and which connection to use."""

from __future__ import annotations

import os
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

SCRIPTS = Path(__file__).with_name("migrations")
REVISIONS = (SCRIPTS / "versions",)


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", _quoted(SCRIPTS))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(map(_quoted, REVISIONS)))
    return config


def upgrade(connection: Connection, to: str = "head") -> None:
    """Within the caller's transaction."""
    config = configuration()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%%")
