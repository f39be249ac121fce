"""KernelBench: `KernelBench/level1/19_ReLU.py` in a checkout, or the rows of its dataset. Ids are `LEVEL/NUMBER`."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from kernelwright.tasks._load import Setting, read_text, task_from_text
from kernelwright.tasks._task import Task
from kernelwright.tasks.suites import _dataset, _git
from kernelwright.tasks.suites._problem import Problem, in_order
from kernelwright.tasks.suites._suite import Suite

NAME = "kernelbench"
_LEVEL = re.compile(r"level_?(\d+)")
_NUMBERED = re.compile(r"(\d+)_.+")
# KernelBench runs its models as they are constructed.
_MODE = "train"


def recognise(root: Path) -> Suite | None:
    """The suite at `root`, if it is one."""
    levels = _levels(root)
    if levels:
        return Suite(NAME, root, _git.commit(root), partial(_from_folders, levels))
    files = _dataset.files(root)
    if files:
        return Suite(NAME, root, _dataset.version(files), partial(_from_rows, files))
    return None


def _levels(root: Path) -> dict[str, Path]:
    for base in (root / "KernelBench", root):
        folders = sorted(base.iterdir()) if base.is_dir() else []
        named = {found[1]: path for path in folders if (found := _LEVEL.fullmatch(path.name)) and path.is_dir()}
        levels = {level: path for level, path in named.items() if any(_files(path))}
        if levels:
            return levels
    return {}


def _files(level: Path) -> dict[str, Path]:
    """Problem files by their number."""
    found = ((_NUMBERED.fullmatch(path.stem), path) for path in sorted(level.glob("*.py")))
    return {match[1]: path for match, path in found if match}


def _from_folders(levels: Mapping[str, Path]) -> tuple[Problem, ...]:
    return in_order(
        [
            Problem(NAME, f"{level}/{number}", path.stem, level, partial(_read_file, path))
            for level, folder in levels.items()
            for number, path in _files(folder).items()
        ]
    )


def _read_file(path: Path, constants: Mapping[str, Setting], mode: str | None) -> tuple[Task, ...]:
    return (task_from_text(read_text(path), path.stem, str(path), constants, mode or _MODE),)


def _from_rows(files: tuple[Path, ...]) -> tuple[Problem, ...]:
    rows = [row for file in files for row in _dataset.rows(file)]
    return in_order([Problem(NAME, row.id, row.title, _level(row.id), partial(_read_row, row)) for row in rows])


def _level(id_: str) -> str:
    return id_.partition("/")[0]


def _read_row(row: _dataset.Row, constants: Mapping[str, Setting], mode: str | None) -> tuple[Task, ...]:
    return (task_from_text(row.code, row.title, row.where, constants, mode or _MODE),)
