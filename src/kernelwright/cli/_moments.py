"""One line of plain text for an event of a search, the same on a screen and in a file.

Messages of candidates and answers of models are somebody else's text: nothing of it reaches a terminal but letters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LETTERS = 10
LONGEST = 200
INDENT = "      "

Event = dict[str, Any]


def moment(event: Event) -> str:
    """What happened, or nothing where it is not worth a line."""
    said = _WORDS.get(event["event"])
    return said(event) if said else ""


def plain(text: object) -> str:
    """Somebody else's text on one line: no control characters, no marks that turn the line around, not without end."""
    joined = " ".join(str(text).split())
    shown = "".join(letter for letter in joined[: 2 * LONGEST] if letter.isprintable())
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 3] + "..."


def speed(kernel: Event) -> str:
    return f"{kernel['speedup']:.2f}x {kernel.get('over', 'eager')} [{kernel['low']:.2f}, {kernel['high']:.2f}]"


def speedups(verdict: Event) -> str:
    """How fast, over each baseline, with the interval."""
    told = verdict["speedup"].items()
    return ", ".join(f"{one['ratio']:.2f}x {name} [{one['low']:.2f}, {one['high']:.2f}]" for name, one in told)


def short(candidate: str) -> str:
    return candidate[:LETTERS]


def cell_name(cell: list[int]) -> str:
    return "".join(map(str, cell))


def _begun(event: Event) -> str:
    again = ", resumed" if event["resumed"] else ""
    return f"run {event['run']}  {plain(event['task'])} in {plain(event['backend'])}{again}"


def _judged(event: Event) -> str:
    result = speed(event) if event["speedup"] is not None else plain(event["message"])
    where = f"cell {cell_name(event['cell'])}"
    return f"{event['number']:4}  {short(event['candidate'])}  {plain(event['status']):<16} {where}  {result}"


def _settled(event: Event) -> str:
    new, old = event["challenger"], event["elite"]
    verb = "beats" if event["won"] else "has not beaten"
    cell = cell_name(old["cell"])
    speeds = f"{new['speedup']:.2f}x to {old['speedup']:.2f}x"
    return f"{INDENT}{short(new['candidate'])} {verb} {short(old['candidate'])} in cell {cell}: {speeds}"


def _advice(event: Event) -> str:
    return f"{INDENT}the advice was {'rewritten' if event['genome'] else 'to be rewritten, and stays as it is'}"


_WORDS: dict[str, Callable[[Event], str]] = {
    "begun": _begun,
    "judged": _judged,
    "settled": _settled,
    "unusable": lambda event: f"{INDENT}answer {plain(event['request'])} holds no kernel: {plain(event['why'])}",
    "fault": lambda event: f"{INDENT}the judge failed, trying again: {plain(event['why'])}",
    "advice": _advice,
    "final": lambda event: f"{INDENT}measuring {short(event['candidate'])} once more, on new inputs",
}
