"""Entries, archives and histories made up for a test."""

import itertools

from kernelwright.archive import WITHIN, Archive, Cell, Choice, Direction, Entry, Transitions

names = (f"k{number}" for number in itertools.count())


def entry(
    cell: Cell = (0, 0, 0), log_speedup: float = 0.0, *, noise: float = 0.0, candidate: str | None = None
) -> Entry:
    return Entry(candidate or next(names), cell, log_speedup, log_speedup - noise, log_speedup + noise)


def filled(values: dict[Cell, float]) -> Archive:
    archive = Archive()
    for cell, value in values.items():
        archive.offer(entry(cell, value))
    return archive


def asked(archive: Archive, cell: Cell, direction: Direction = WITHIN) -> Choice:
    elite = archive.elites[cell]
    return Choice(elite.candidate, cell, direction, "made up", elite.log_speedup)


def went(
    history: Transitions, cell: Cell, direction: Direction, times: int, *, gain: float | None, placed: bool
) -> None:
    """So many steps from a cell that all went the same way."""
    choice = Choice("parent", cell, direction, "made up", 0.0)
    for _ in range(times):
        history.record(choice, landed=None if gain is None else cell, gain=gain, placed=placed)
