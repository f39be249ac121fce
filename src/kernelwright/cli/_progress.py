"""A bar for commands that take many steps, on the standard error, so that tables can be piped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bar:
    """What has been done of how much, and what is being done now."""

    def __init__(self, progress: Progress, task: TaskID, verb: str) -> None:
        self._progress, self._task, self._verb = progress, task, verb

    def now(self, what: str) -> None:
        self._progress.update(self._task, description=f"{self._verb} {escape(what)}")

    def advance(self, steps: int = 1) -> None:
        self._progress.advance(self._task, steps)


@contextmanager
def progress(verb: str, total: int) -> Iterator[Bar]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Console(stderr=True, highlight=False)
    with Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as running:
        yield Bar(running, running.add_task(verb, total=total), verb)
