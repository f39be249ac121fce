"""One problem of a suite: an id, a title, and the tasks it consists of.

Most problems are one task. Where a suite asks for several ways to construct the model, each is a variant: a task
of its own, since its weights have other shapes. A solution solves the problem when it solves all of them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kernelwright.tasks._error import TaskError
from kernelwright.tasks._load import Setting
from kernelwright.tasks._task import Task

Read = Callable[[Mapping[str, Setting], str | None], tuple[Task, ...]]


@dataclass(frozen=True)
class Problem:
    """A problem, not yet read.

    Attributes:
        suite: Name of its suite.
        id: Unique in the suite, such as `1/19` or `layernorm/backward`.
        title: What people call it.
        part: The part of the suite it belongs to, such as `1` or `kernelbench/level_1`; empty where it is in none.
        read: Reads its tasks, one a variant, with constants set and in a mode.
    """

    suite: str
    id: str
    title: str
    part: str
    read: Read = field(repr=False, compare=False)

    @property
    def address(self) -> str:
        return f"{self.suite}:{self.id}"

    def tasks(self, *, constants: Mapping[str, Setting] | None = None, mode: str | None = None) -> tuple[Task, ...]:
        """All variants."""
        return self.read(constants or {}, mode)

    def task(
        self, variant: int = 1, *, constants: Mapping[str, Setting] | None = None, mode: str | None = None
    ) -> Task:
        """One variant, counted from 1."""
        tasks = self.tasks(constants=constants, mode=mode)
        if not 1 <= variant <= len(tasks):
            what = f"there is no variant {variant}: the problem has {len(tasks)}."
            raise TaskError(what, self.address, f"Name one from {self.address}#1 to {self.address}#{len(tasks)}.")
        return tasks[variant - 1]


def in_order(problems: list[Problem]) -> tuple[Problem, ...]:
    """By id, numbers as numbers: 2 before 19."""
    return tuple(sorted(problems, key=lambda problem: natural(problem.id)))


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sorting key under which `1/2` comes before `1/19`, and `task_2` before `task_19`."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.findall(r"[0-9]+|[^0-9]+", text)]
