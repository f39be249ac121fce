"""`kernelwright config`: the configuration of a search, as a file to begin with; and what says it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kernelwright.cli._failure import UsageError, assignments
from kernelwright.config import ConfigError, Configuration, configured, spoken, to_toml

HELP = "Print the configuration of a search as TOML: the defaults, or FILE with all it leaves open filled in."
DEFAULTS = Configuration()

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A TOML file; `kernelwright config` prints one. Options come first.")
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="SECTION.KEY=VALUE: a setting. NAME=VALUE, with no dot: a constant of the task."),
]


def run(
    file: Annotated[Path | None, typer.Argument(help="A TOML file.")] = None,
    pairs: Annotated[list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE.")] = None,
) -> None:
    settings, constants = settings_from(pairs)
    try:
        configuration = configured(file=file, settings=settings, constants=constants)
    except ConfigError as error:
        raise UsageError(error.what, error.fix) from error
    typer.echo(to_toml(configuration), nl=False)


def settings_from(pairs: list[str] | None) -> tuple[dict[str, Any], dict[str, str]]:
    """Settings, and constants of the task."""
    return spoken(assignments(pairs or [], "--set"))
