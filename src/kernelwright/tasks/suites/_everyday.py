"""The suite in this package: `everyday/FAMILY/NAME` holds `task.toml` and `reference.py`. Ids are the names alone."""

import ast
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from kernelwright.tasks._load import Setting, load_task, read_text
from kernelwright.tasks._task import Task
from kernelwright.tasks.suites import _dataset
from kernelwright.tasks.suites._problem import Problem
from kernelwright.tasks.suites._suite import Suite

NAME = "everyday"
FOLDER = Path(__file__).parent / NAME
_FILES = ("reference.py", "task.toml")


def recognise(root: Path) -> Suite | None:
    """The suite, if `root` is where it lies: there is but one."""
    if root != FOLDER:
        return None
    tables = sorted(FOLDER.glob("*/*/task.toml"))
    files = tuple(table.with_name(name) for table in tables for name in _FILES)
    return Suite(NAME, FOLDER, _dataset.version(files), partial(_problems, [table.parent for table in tables]))


def _problems(folders: list[Path]) -> tuple[Problem, ...]:
    return tuple(Problem(NAME, path.name, _title(path), path.parent.name, partial(_read, path)) for path in folders)


def _title(folder: Path) -> str:
    """The sentence that its reference begins with."""
    return ast.get_docstring(ast.parse(read_text(folder / "reference.py"))) or folder.name


def _read(folder: Path, constants: Mapping[str, Setting], mode: str | None) -> tuple[Task, ...]:
    return (load_task(folder, constants=constants, mode=mode),)
