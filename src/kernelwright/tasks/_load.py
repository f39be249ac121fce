"""From what a user names (a file, a folder, a suite's id) to a task.

Knows files and the KernelBench form. Task folders are read in `_folder.py`, suites in `suites/`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from kernelwright.tasks._case import Case
from kernelwright.tasks._constants import with_constants
from kernelwright.tasks._error import TaskError, closest, located
from kernelwright.tasks._neighbours import changeable_sizes, neighbours
from kernelwright.tasks._reference import Reference
from kernelwright.tasks._task import Task

Setting = str | int | float | bool


# A suite's problem, such as `kernelbench:1/19`.
_SUITE_PROBLEM = re.compile(r"[A-Za-z][\w-]*:")


def load_task(
    spec: str | Path,
    *,
    constants: Mapping[str, Setting] | None = None,
    mode: str | None = None,
    suite_dir: Path | None = None,
) -> Task:
    """The task that `spec` names.

    Args:
        spec: A Python file in KernelBench form, a task folder (or its `task.toml`), or a suite's problem
            (`kernelbench:1/19`).
        constants: Other values for top-level constants or dims; text is read as a Python literal.
        mode: `train` or `eval` in place of what the task says.
        suite_dir: Where suites lie, in place of the usual places.
    """
    if isinstance(spec, str) and _SUITE_PROBLEM.match(spec) and not Path(spec).exists():
        # Suites bring readers of several formats, which a plain file does not need.
        from kernelwright.tasks.suites import load_problem

        return load_problem(spec, constants=constants, mode=mode, suite_dir=suite_dir)
    path = Path(spec)
    with located(str(path)):
        return _load_path(path, dict(constants or {}), mode)


def _load_path(path: Path, constants: dict[str, Setting], mode: str | None) -> Task:
    if path.name == "task.toml" and path.is_file():
        path = path.parent
    if path.is_dir():
        # The schema of task folders needs pydantic, which this room loads only where text enters.
        from kernelwright.tasks._folder import load_folder

        return load_folder(path, constants, mode)
    return _load_file(path, constants, mode or "train")


def _load_file(path: Path, constants: dict[str, Setting], mode: str) -> Task:
    _check_is_python(path)
    return task_from_text(read_text(path), path.stem, str(path), constants, mode)


def task_from_text(text: str, name: str, where: str, constants: Mapping[str, Setting], mode: str) -> Task:
    """A task from a text in KernelBench form; `where` is what messages call it."""
    reference = Reference.parse(text, where)
    reference.require("Model", "get_inputs", "get_init_inputs")
    reference = with_constants(reference, constants)
    case = Case("given")
    near = neighbours(case, changeable_sizes(reference))
    return Task(name, reference.text, (case,), mode=mode, neighbours=near, origin=where)


def _check_is_python(path: Path) -> None:
    if not path.exists():
        raise TaskError("there is no such file or folder.", str(path), _siblings(path))
    if path.suffix != ".py":
        fix = "Name a Python file in KernelBench form, or a folder with task.toml and reference.py."
        raise TaskError("a task is a .py file or a folder.", str(path), fix)


def _siblings(path: Path) -> str:
    try:
        names = sorted(sibling.name for sibling in path.parent.iterdir())
    except OSError:
        return f"The folder {path.parent} does not exist either."
    meant = closest(path.name, names)
    return f"Did you mean {path.parent / meant}?" if meant else "Check the path."


def read_text(path: Path) -> str:
    """The text of a file that a user wrote, line ends normalised."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TaskError("the file is not UTF-8 text.", str(path), "Is this the right file?") from error
    except OSError as error:
        raise TaskError(f"the file cannot be read: {error.strerror}.", str(path)) from error
    if "\0" in text:
        raise TaskError("the file is binary.", str(path), "Is this the right file?")
    return text
