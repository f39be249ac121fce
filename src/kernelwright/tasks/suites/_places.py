"""Where suites lie: a folder that the user names, one in the environment, or one in the user's configuration."""

import os
from pathlib import Path

from kernelwright.tasks._error import TaskError

VARIABLE = "KERNELWRIGHT_SUITES"


def places(suite_dir: Path | None = None) -> list[Path]:
    """The places to look in, the most particular first. A place that the user names is the only one."""
    if suite_dir is not None:
        return [_existing(suite_dir, "--suite-dir")]
    named = os.environ.get(VARIABLE, "")
    chosen = [_existing(Path(text).expanduser(), VARIABLE) for text in named.split(os.pathsep) if text]
    usual = config_place()
    return [*chosen, *([usual] if usual.is_dir() else [])]


def config_place() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "kernelwright" / "suites"


def where_to_put(name: str) -> str:
    """What to do about a suite that is not there."""
    return (
        f"Say --suite-dir with the folder of a checkout, set {VARIABLE} to a folder that holds {name}, "
        f"or put it in {config_place()}."
    )


def _existing(place: Path, named_by: str) -> Path:
    if not place.exists():
        raise TaskError(f"{named_by} names {str(place)!r}, which does not exist.", str(place), "Check the path.")
    return place
