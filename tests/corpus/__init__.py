"""Candidates with a known verdict: exploits that must be rejected, honest kernels that must be accepted.

A candidate is one Python file whose first comment lines say what it is:

    # entry: A3                   the catalogue entry (exploits) or a short name (honest)
    # task: softmax               a task in tests/corpus/tasks
    # expect: TAMPER | STATEFUL   the statuses that count as right

The rest of the file is the candidate, word for word as the judge gets it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kernelwright.tasks import Task, load_task

HERE = Path(__file__).parent
TASKS = HERE / "tasks"
EXPLOITS = HERE.parent / "exploits" / "candidates"
HONEST = HERE.parent / "honest" / "candidates"
# Candidates in SYCL, judged where its packages are installed.
SYCL_EXPLOITS = HERE.parent / "exploits" / "sycl"
SYCL_HONEST = HERE.parent / "honest" / "sycl"
# Candidates that build a torch extension, which takes seconds each; they are left out of the mutants.
EXTENSION_EXPLOITS = HERE.parent / "exploits" / "extensions"
EXTENSION_HONEST = HERE.parent / "honest" / "extensions"
HEADER = re.compile(r"^# (entry|task|expect): (.+)$")


@dataclass(frozen=True)
class Specimen:
    path: Path
    entry: str
    task: str
    expect: frozenset[str]
    tasks: Path = TASKS

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def source(self) -> str:
        return self.path.read_text()

    def load_task(self) -> Task:
        return _task(self.tasks, self.task)


@cache
def _task(tasks: Path, name: str) -> Task:
    """One object for all candidates of a task."""
    return load_task(tasks / name if (tasks / name).is_dir() else tasks / f"{name}.py")


def specimens(folder: Path, tasks: Path = TASKS) -> list[Specimen]:
    """All candidates of a folder, those of one task together so that the task is prepared once."""
    found = [replace(_read(path), tasks=tasks) for path in sorted(folder.glob("*.py"))]
    return sorted(found, key=lambda specimen: (specimen.task, specimen.name))


def _read(path: Path) -> Specimen:
    said: dict[str, str] = {}
    for line in path.read_text().splitlines():
        match = HEADER.match(line)
        if not match:
            break
        said[match[1]] = match[2].strip()
    missing = {"entry", "task", "expect"} - said.keys()
    if missing:
        raise ValueError(f"{path.name} does not say its {', '.join(sorted(missing))}")
    expect = frozenset(word.strip() for word in said["expect"].split("|"))
    return Specimen(path, said["entry"], said["task"], expect)


def one_of_each_entry(folder: Path) -> list[Specimen]:
    """The first candidate of every catalogue entry."""
    first: dict[str, Specimen] = {}
    for specimen in sorted(specimens(folder), key=lambda specimen: specimen.name):
        first.setdefault(specimen.entry, specimen)
    return sorted(first.values(), key=lambda specimen: (specimen.task, specimen.name))
