"""The grid: three axes of four levels, the 64 cells they span, and the steps from one cell to the next."""

from __future__ import annotations

from typing import Any, Final, Literal

from kernelwright.archive._error import ArchiveError

Cell = tuple[int, int, int]
Step = tuple[str, int]
Direction = Step | Literal["improve within the cell", "as its writer sees fit"]

AXES: Final = ("memory", "algorithm", "coordination")
LEVELS: Final = 4
WITHIN: Final = "improve within the cell"
# Nothing is said of where to go.
FREELY: Final = "as its writer sees fit"
CELLS: Final[tuple[Cell, ...]] = tuple((m, a, c) for m in range(LEVELS) for a in range(LEVELS) for c in range(LEVELS))
DIRECTIONS: Final[tuple[Direction, ...]] = (WITHIN, *((axis, way) for axis in AXES for way in (1, -1)))


def distance(one: Cell, other: Cell) -> int:
    """How many steps apart."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def lies_that_way(cell: Cell, other: Cell, direction: Direction) -> bool:
    """Whether the other cell lies where the direction leads, however far."""
    if direction == FREELY:
        return True
    if isinstance(direction, str):
        return cell == other
    axis, way = AXES.index(direction[0]), direction[1]
    return (other[axis] - cell[axis]) * way > 0


def target(cell: Cell, direction: Direction) -> Cell | None:
    """The cell one step that way, the cell itself for `WITHIN`, None where the grid ends or nothing was said."""
    if direction == FREELY:
        return None
    if isinstance(direction, str):
        return cell
    levels = list(cell)
    levels[AXES.index(direction[0])] += direction[1]
    there = (levels[0], levels[1], levels[2])
    return there if there in CELLS else None


def directions(cell: Cell) -> list[Direction]:
    """What may be asked of a kernel in this cell; downwards too, as simpler is often faster."""
    return [direction for direction in DIRECTIONS if target(cell, direction) is not None]


def in_words(direction: Direction) -> str:
    if isinstance(direction, str):
        return direction
    axis, way = direction
    return f"one level up in {axis}" if way > 0 else f"one level down in {axis} (simplify)"


def to_cell(told: Any) -> Cell:
    """A cell from what JSON made of it, or a sentence."""
    cell = tuple(told) if isinstance(told, list | tuple) else told
    if cell not in CELLS:
        raise ArchiveError(
            f"no cell {told!r} in the grid: give three levels ({', '.join(AXES)}), each 0 to {LEVELS - 1}"
        )
    return (int(cell[0]), int(cell[1]), int(cell[2]))


def to_direction(told: Any) -> Direction:
    """A direction from what JSON made of it, or a sentence."""
    found = tuple(told) if isinstance(told, list | tuple) else told
    for direction in (*DIRECTIONS, FREELY):
        if found == direction:
            return direction
    raise ArchiveError(
        f"no direction {told!r}: give [axis, 1 or -1] with an axis of {', '.join(AXES)}, {WITHIN!r} or {FREELY!r}"
    )
