"""What a stopwatch saw, as spots where a kernel could help: each a reference and the shapes it was called with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from kernelwright.tasks import TaskError
from kernelwright.trace._call import Passing
from kernelwright.trace._rebuilt import Cost, compare, cost_of, rebuilt
from kernelwright.trace._stopwatch import Kind, Seen, Stopwatch

# Spots that took less than so much of the longest one are counted and not looked at.
LEAST = 0.005
# Of a spot's shapes so many are looked at, the most frequent first.
CASES = 8


def examined(watch: Stopwatch, script: str) -> list[dict[str, Any]]:
    groups = [(kind, group) for kind in watch.kinds.values() for group in _by_text(kind)]
    longest = max((_seconds(group) for _, group in groups), default=0.0)
    ordered = sorted(groups, key=lambda item: -_seconds(item[1]))
    return [_spot(kind, group, script) for kind, group in ordered if _seconds(group) >= LEAST * longest]


def _by_text(kind: Kind) -> list[list[Seen]]:
    """Calls that pass other plain values, or may not be taken over, are other spots."""
    groups: dict[Any, list[Seen]] = defaultdict(list)
    for seen in _merged(kind):
        groups[seen.passed and seen.passed.text, seen.why_not].append(seen)
    return [sorted(group, key=lambda seen: -seen.calls) for group in groups.values()]


def _merged(kind: Kind) -> Iterable[Seen]:
    """Strides that a task cannot tell apart are one shape."""
    found: dict[Any, Seen] = {}
    for seen in kind.seen.values():
        forms = tuple((spec.shape, spec.dtype, spec.layout) for spec in seen.inputs)
        first = found.setdefault((seen.passed, seen.why_not, forms), seen)
        if first is not seen:
            first.calls += seen.calls
            first.seconds += seen.seconds
            first.own_seconds += seen.own_seconds
    return found.values()


def _seconds(group: list[Seen]) -> float:
    return sum(seen.seconds for seen in group)


def _spot(kind: Kind, group: list[Seen], script: str) -> dict[str, Any]:
    costs: list[Cost | None] = [None] * len(group)
    source, why_not = "", kind.why_not or group[0].why_not
    if not why_not:
        assert kind.design is not None
        assert group[0].passed is not None
        source = kind.design.reference(group[0].passed, script)
        try:
            costs = _costs(kind, group, group[0].passed, source)
        except TaskError as error:
            why_not = error.what
    return {
        "name": kind.name,
        "label": kind.label,
        "source": source,
        "mode": "train" if kind.example.training else "eval",
        "why_not": why_not,
        "paths": [path for path in kind.paths if path],
        "inside": list(kind.inside),
        "shapes": [_shape(seen, cost) for seen, cost in zip(group, costs, strict=True)],
    }


def _costs(kind: Kind, group: list[Seen], passed: Passing, source: str) -> list[Cost | None]:
    model = rebuilt(source, kind.example)
    try:
        compare(model, kind.example, passed, group[0].inputs)
        return [cost_of(model, seen.inputs) if place < CASES else None for place, seen in enumerate(group)]
    except TaskError:
        raise
    except Exception as error:
        raise TaskError(f"it fails on inputs like those it was called with: {type(error).__name__}: {error}") from error


def _shape(seen: Seen, cost: Cost | None) -> dict[str, Any]:
    return {
        "inputs": [spec.to_wire() for spec in seen.inputs],
        "calls": seen.calls,
        "seconds": seen.seconds,
        "own_seconds": seen.own_seconds,
        "cost": asdict(cost) if cost else None,
    }
