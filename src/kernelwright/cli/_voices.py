"""How a search is followed: on a screen, line by line, or as JSON for another program."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from kernelwright.archive import CELLS
from kernelwright.cli._failure import CANNOT_JUDGE
from kernelwright.cli._moments import Event, short, speedups
from kernelwright.cli._screen import picture
from kernelwright.cli._view import View
from kernelwright.engine import Found, as_told

# Drawing takes 2 ms of a processor, and somebody may be measuring on this machine.
DRAWINGS_A_SECOND = 1.0
ACCEPTED, NOTHING = 0, 1
KEPT = "every reply and verdict so far is kept"


class Voice:
    """Hears what a run tells, and says it in its own way. A context manager: left, it draws no more.

    Attributes:
        run: The run's name, once there is one.
        view: How it stands.
        console: Where people read.
    """

    def __init__(self, console: Console) -> None:
        self.console, self.run, self.view = console, "", View()

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        self.run = data.get("run", self.run)
        event = {"event": kind, "run": self.run, "at": time.time(), **data}
        self.view = self.view.after(event)
        self.say(event)

    def say(self, event: Event) -> None:
        """The event has just gone into the view."""
        raise NotImplementedError

    def __enter__(self) -> Voice:
        return self

    def __exit__(self, *_: object) -> None: ...

    def conclude(self, found: Found, next_command: str) -> None:
        """What came of it, and what to do next."""
        self.console.print(f"[bold]{escape(found.reason)}[/]", soft_wrap=True)
        for sentence in found.said:
            self.console.print(Text(sentence), soft_wrap=True)
        if found.winner is None:
            self.console.print("no kernel was accepted", style="red")
        else:
            filled = f"{len(found.archive.elites)} of {len(CELLS)} cells filled"
            best = f"best {short(found.winner.candidate)}: {speedups(found.winner.verdict)}; {filled}"
            self.console.print(Text(best), soft_wrap=True)
        self.console.print(f"[bold]Next:[/] {escape(next_command)}", soft_wrap=True)

    def interrupted(self, next_command: str) -> None:
        console = Console(stderr=True, highlight=False)
        console.print(f"[bold]Interrupted:[/] {KEPT}", soft_wrap=True)
        console.print(f"[bold]Next:[/] {escape(next_command)}", soft_wrap=True)

    def failed(self, error: BaseException, next_command: str) -> None:
        """The run has ended with an error, which is said elsewhere."""


class Lines(Voice):
    """A line for whatever happens, where there is no terminal."""

    def say(self, event: Event) -> None:
        if self.view.news:
            self.console.print(Text(self.view.news), soft_wrap=True)


class Screen(Voice):
    """Everything in one place, drawn again every second; the last drawing stays."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._live = Live(console=console, get_renderable=self._draw, refresh_per_second=DRAWINGS_A_SECOND)

    def say(self, event: Event) -> None:
        """The next drawing shows it."""

    def _draw(self) -> RenderableType:
        return picture(self.view, time.time(), self.console.height)

    def __enter__(self) -> Screen:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.view = self.view.ended()
        try:
            self._live.stop()
        finally:
            self.console.show_cursor()


class Events(Voice):
    """One JSON object a line on the standard output, the result last; people read the standard error."""

    def __init__(self) -> None:
        super().__init__(Console(stderr=True, highlight=False))

    def say(self, event: Event) -> None:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def conclude(self, found: Found, next_command: str) -> None:
        state, code = ("finished", ACCEPTED) if found.best else ("failed", NOTHING)
        self._result(state, found.reason, code, next_command, _final(found))

    def interrupted(self, next_command: str) -> None:
        self._result("interrupted", KEPT, CANNOT_JUDGE, next_command, self.view.best)
        super().interrupted(next_command)

    def failed(self, error: BaseException, next_command: str) -> None:
        self._result("failed", str(getattr(error, "what", error)), CANNOT_JUDGE, next_command, self.view.best)

    def _result(self, state: str, reason: str, code: int, next_command: str, best: Event | None) -> None:
        found = {"best": best, "filled": len(self.view.elites)}
        self("result", {"state": state, "reason": reason, "exit": code, **found, "next": next_command})


def open_voice(as_json: bool) -> Voice:
    if as_json:
        return Events()
    console = Console(highlight=False)
    return Screen(console) if console.is_interactive else Lines(console)


def _final(found: Found) -> dict[str, Any] | None:
    """The best kernel as it was measured at the end."""
    if found.winner is None:
        return None
    return as_told(found.winner.entry, next(iter(found.winner.verdict["speedup"])))
