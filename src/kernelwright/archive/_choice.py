"""What to do next: improve an elite in some direction, or repair a broken kernel. Never both at once.

The engine keeps the choice beside the request it made of it and gives it back with the result: that is how the
archive learns what came of what it asked for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kernelwright.archive._cell import Cell, Direction, to_cell, to_direction
from kernelwright.archive._error import ArchiveError


@dataclass(frozen=True)
class Choice:
    """An elite to build on and where to take it.

    Args:
        parent: Hash of the elite. `cell`: where it lives.
        direction: An axis and +1 or -1, `WITHIN`, or `FREELY`: nothing is said of it.
        why: One sentence for a person.
        log_speedup: The parent's, when it was chosen: what a child's gain is counted from.
    """

    parent: str
    cell: Cell
    direction: Direction
    why: str
    log_speedup: float

    def to_json(self) -> dict[str, Any]:
        return {"kind": "improve", **asdict(self)}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Choice:
        cell, direction = to_cell(told["cell"]), to_direction(told["direction"])
        return cls(told["parent"], cell, direction, told["why"], told["log_speedup"])


@dataclass(frozen=True)
class Repair:
    """A broken kernel to be made right, and nothing else.

    Args:
        parent: Hash of the broken kernel.
        why: One sentence for a person.
        asked: The choice that it was meant to answer; None for a draft. Once repaired, it is an answer to that.
        depth: How many repairs came before in this line.
    """

    parent: str
    why: str
    asked: Choice | None
    depth: int

    def to_json(self) -> dict[str, Any]:
        return {"kind": "repair", **asdict(self)}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Repair:
        asked = Choice.from_json(told["asked"]) if told["asked"] else None
        return cls(told["parent"], told["why"], asked, told["depth"])


def asked_for(came_of: Choice | Repair | None) -> Choice | None:
    """The choice that a result answers, be it after repairs; None for a draft."""
    return came_of.asked if isinstance(came_of, Repair) else came_of


def choice_from_json(told: dict[str, Any] | None) -> Choice | Repair | None:
    """What `to_json` of either told; None stays None: a draft comes of no choice."""
    if told is None:
        return None
    kinds: dict[str, type[Choice] | type[Repair]] = {"improve": Choice, "repair": Repair}
    if told.get("kind") not in kinds:
        raise ArchiveError(f"a choice is of kind {' or '.join(kinds)}, not {told.get('kind')!r}")
    return kinds[told["kind"]].from_json(told)
