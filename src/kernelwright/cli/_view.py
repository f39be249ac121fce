"""What is known of a search from the events it has told: a value, so that it can be drawn at any moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwright.archive import CELLS, Cell
from kernelwright.cli._moments import INDENT, Event, moment, speed

MOST_LINES = 12


@dataclass(frozen=True)
class View:
    """How a search stands.

    Attributes:
        budget: The most that may be spent of each part; None where there is no limit.
        best: The fastest kernel so far. `elites`: the speedup of the best of each cell.
        spent: What was used by `stood`, the moment at which the run last said how it stands.
        lines: What happened last. `news`: the line that the last event was worth, if it was worth one.
        heard: When something was last heard of the run.
    """

    run: str = ""
    task: str = ""
    backend: str = ""
    resumed: bool = False
    budget: Mapping[str, float | None] = field(default_factory=dict)
    best: Event | None = None
    elites: Mapping[Cell, float] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    forecast: Event | None = None
    asking: int = 0
    judging: int = 0
    over: bool = False
    lines: tuple[str, ...] = ()
    news: str = ""
    stood: float = 0.0
    heard: float = 0.0

    def after(self, event: Event) -> View:
        """The same search, one event later."""
        change = _CHANGES.get(event["event"], _nothing)(self, event)
        news = moment(event) or _news(self, event)
        worth = news and event["event"] != "begun"  # which stands above them in any case
        lines = (*self.lines, news)[-MOST_LINES:] if worth else self.lines
        return replace(self, **change, news=news, lines=lines, heard=event["at"])

    def ended(self) -> View:
        """Nobody works on it any more."""
        return replace(self, over=True, forecast=None, asking=0, judging=0)


def _nothing(view: View, event: Event) -> dict[str, Any]:
    return {}


def _begun(view: View, event: Event) -> dict[str, Any]:
    return {name: event[name] for name in ("run", "task", "backend", "resumed", "budget")}


def _elite(view: View, event: Event) -> dict[str, Any]:
    memory, algorithm, coordination = event["cell"]
    return {"elites": {**view.elites, (memory, algorithm, coordination): event["speedup"]}}


def _stands(view: View, event: Event) -> dict[str, Any]:
    told = {name: event[name] for name in ("best", "spent", "forecast", "asking", "judging")}
    return {**told, "stood": event["at"]}


_CHANGES: dict[str, Callable[[View, Event], dict[str, Any]]] = {"begun": _begun, "elite": _elite, "stands": _stands}


def _news(view: View, event: Event) -> str:
    """What was found before a run was resumed, and each new best."""
    if event["event"] != "stands":
        return ""
    best = event["best"]
    if view.resumed and not view.spent:
        found = f"best {speed(best)}" if best else "nothing accepted"
        judged, filled = event["spent"]["evaluations"], f"{event['filled']} of {len(CELLS)} cells filled"
        return f"{INDENT}before: {judged} judged, {found}, {filled}"
    new = best and (view.best is None or best["candidate"] != view.best["candidate"])
    return f"{INDENT}best so far: {speed(best)}" if new else ""
