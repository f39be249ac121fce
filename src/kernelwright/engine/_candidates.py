"""What a candidate is, for tasks with a reference and for projects: read from an answer, named, placed in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright import backends
from kernelwright.archive import Cell
from kernelwright.engine._verdicts import code_of
from kernelwright.propose import Answer, parse, parse_regions
from kernelwright.tasks import RegionError, Task


def read_answer(task: Task, text: str, parent: str | None) -> Answer:
    """The candidate in an answer. `parent`: the source that edits refer to."""
    return parse(text, parent) if task.project is None else parse_regions(text, parent, task.project)


def backend_of(task: Task, source: str) -> str:
    """What it is written in: a project's candidates, what the project is."""
    return backends.detect(source) if task.project is None else task.project.backend


def cell_of(task: Task, source: str, verdict: Mapping[str, Any] | None = None) -> Cell:
    """Its strategy coordinates; of several regions the highest on every axis.

    Where a verdict tells what the judge found in the compiled code, what is not there is not credited.
    """
    if task.project is None:
        return backends.describe(source, code=code_of(verdict)).cell
    project = task.project
    try:
        texts = project.read(source)
    except RegionError:
        texts = {project.regions[0].name: source}
    cells = [
        backends.describe(texts[region.name], project.language(region.file)).cell
        for region in project.regions
        if region.name in texts
    ]
    memory, algorithm, coordination = (max(levels) for levels in zip(*cells, strict=True))
    return memory, algorithm, coordination
