"""A task folder that already runs, for people who start their own from it."""

from importlib.resources import files
from pathlib import Path

from kernelwright.tasks._error import TaskError

# The Python files carry a second suffix so that no tool takes them for modules of this package.
_FILES = {
    "task.toml": "task.toml",
    "reference.py": "reference.py.txt",
    "candidate.py": "candidate.py.txt",
    "README.md": "README.md",
}


def write_template(directory: Path) -> list[Path]:
    """Writes an example task with a candidate into the directory, which is made if need be.

    Existing files are never overwritten: if one is in the way, nothing is written.
    """
    directory = Path(directory)
    _check_nothing_in_the_way(directory)
    directory.mkdir(parents=True, exist_ok=True)
    return [_write(directory, name) for name in _FILES]


def _check_nothing_in_the_way(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise TaskError("this is a file, not a folder.", str(directory), "Name a folder.")
    taken = [name for name in _FILES if (directory / name).exists()]
    if taken:
        what = f"the folder already holds {', '.join(taken)}."
        raise TaskError(what, str(directory), "Name another folder, or move these away.")


def _write(directory: Path, name: str) -> Path:
    text = (files(__package__) / "template" / _FILES[name]).read_text(encoding="utf-8")
    path = directory / name
    path.write_text(text.replace("{folder}", directory.as_posix()), encoding="utf-8")
    return path
