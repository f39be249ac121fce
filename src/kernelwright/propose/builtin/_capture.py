"""A task's reference as graphs of small operators, one a case; the reference runs in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._tracer import tracer
from kernelwright.tasks import Task

# What becomes of a value at the end: it is returned, or a buffer of the reference's gets it.
RETURNED, CHANGED = "USER_OUTPUT", "BUFFER_MUTATION"


@dataclass(frozen=True)
class Node:
    """One operator. Arguments are numbers, lists, or `{"node": name}`. Without a shape it gives several values."""

    name: str
    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shape: tuple[int, ...] | None
    dtype: str | None


@dataclass(frozen=True)
class Source:
    """Where a value comes from: an input by its place, a weight by its name, or a constant."""

    node: str
    kind: str
    target: str | None
    shape: tuple[int, ...] | None
    dtype: str | None
    place: int | None = None
    value: float | None = None


@dataclass(frozen=True)
class Weight:
    """A parameter or buffer that a candidate must have under the same name."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trained: bool


@dataclass(frozen=True)
class Graph:
    """What the reference computes on the inputs of one case.

    `inputs`: shapes, None for what is no tensor. `changed`: buffers that get a new value, and the node that gives it.
    """

    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    structure: str
    inputs: tuple[tuple[int, ...] | None, ...]
    state: tuple[Weight, ...]
    changed: tuple[tuple[str, str], ...] = ()


def capture(task: Task) -> list[Graph]:
    """The graphs of all cases. Raises CannotWriteError where torch cannot see through the reference."""
    said = tracer().ask(task.to_wire())
    if "dynamic" in said:
        what = (
            "the reference makes tensors whose shapes depend on values; the built-in synthesiser writes for known ones."
        )
        raise CannotWriteError(what, "Keep all elements and mask them with torch.where, or name a model with --model.")
    if "ended" in said:
        raise CannotWriteError(f"the reference's process ended while it was captured: {said['ended']}")
    if "problem" in said:
        raise CannotWriteError(f"the reference cannot be captured by torch.export: {said['problem']}")
    return [_graph(wire) for wire in said["graphs"]]


def _graph(wire: Mapping[str, Any]) -> Graph:
    named = [(kind, target, _output(one)) for (kind, target), one in zip(wire["kinds"], wire["outputs"], strict=True)]
    foreign = [kind for kind, _, _ in named if kind not in (RETURNED, CHANGED)]
    if foreign:
        raise CannotWriteError(f"the reference changes what it was given ({foreign[0].lower()}).")
    return Graph(
        sources=tuple(Source(**{**one, "shape": _shape(one["shape"])}) for one in wire["sources"]),
        nodes=tuple(_node(one) for one in wire["nodes"]),
        outputs=tuple(name for kind, _, name in named if kind == RETURNED),
        structure="" if wire["single"] else wire["structure"],
        inputs=tuple(None if one is None else tuple(one["shape"]) for one in wire["inputs"]),
        state=tuple(Weight(**{**one, "shape": tuple(one["shape"])}) for one in wire["state"]),
        changed=tuple((target, name) for kind, target, name in named if kind == CHANGED),
    )


def _node(wire: Mapping[str, Any]) -> Node:
    return Node(**{**wire, "args": tuple(wire["args"]), "shape": _shape(wire["shape"])})


def _shape(sizes: list[int] | None) -> tuple[int, ...] | None:
    return None if sizes is None else tuple(sizes)


def _output(wire: Any) -> str:
    if not isinstance(wire, dict) or "node" not in wire:
        raise CannotWriteError(f"the reference returns {wire!r}, which is no tensor.")
    return str(wire["node"])
