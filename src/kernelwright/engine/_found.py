"""The map of what a run has found, from what the store keeps of it: for the device it was about, and for each other."""

from __future__ import annotations

from kernelwright import backends
from kernelwright.archive import Archive, Cell, Entry, beats
from kernelwright.engine._elsewhere import UNJUDGED
from kernelwright.engine._verdicts import code_of, entry_of
from kernelwright.store import Judged, Records


def archive_of(records: Records, run: str) -> Archive:
    """What a run has found, learned again from its moves."""
    archive = Archive()
    for move in records.moves(run):
        archive.replay(move.data)
    return archive


def elites_by_device(records: Records, run: str) -> dict[str, dict[Cell, Entry]]:
    """The best of each cell for each device, the one that the run is about first.

    There they are the search's own. Elsewhere nobody was measured twice, and the first stays unless a later one is
    faster by more than chance.
    """
    devices = records.run(run).settings.get("devices") or []
    found: dict[str, dict[Cell, Entry]] = {device: {} for device in devices}
    for judged in records.verdicts(run):
        if judged.used and judged.device in devices[1:]:
            _place(found[judged.device], records, judged)
    return {**found, devices[0]: dict(archive_of(records, run).elites)} if devices else {}


def unjudged_by_device(records: Records, run: str) -> dict[str, str]:
    """Devices where something could not be judged, and why the last time."""
    return {event.data["device"]: event.data["why"] for event in records.events(run) if event.kind == UNJUDGED}


def _place(elites: dict[Cell, Entry], records: Records, judged: Judged) -> None:
    candidate = records.candidate(judged.candidate)
    assert candidate is not None
    cell = backends.describe(candidate.source, code=code_of(judged.verdict)).cell
    entry = entry_of(judged.candidate, cell, judged.verdict)
    if entry is not None and (entry.cell not in elites or beats(entry, elites[entry.cell])):
        elites[entry.cell] = entry
