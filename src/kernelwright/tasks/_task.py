"""The task: a reference computation, the cases to judge it on, and the rules of the judgement.

Knows what a task consists of. Does not know files (see `_load.py`), nor how to run anything.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kernelwright.tasks._case import Case
from kernelwright.tasks._error import check_choice, require
from kernelwright.tasks._project import Project
from kernelwright.tasks._wire import content_hash, plain_fields

PRECISIONS = ("strict", "tf32", "bf16", "fp16")
LIBRARIES = ("forbidden", "gemm-only", "allowed")
MODES = ("train", "eval")
WEIGHTS = ("frozen", "live")
DEVICE = re.compile(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?")


@dataclass(frozen=True)
class Task:
    """What is to be made fast. Immutable, known by its content.

    Attributes:
        name: What people call it; no part of the hash.
        source: Text of a Python file that defines `Model`, and `get_inputs` and `get_init_inputs` where the
            cases or `init` do not stand in for them.
        cases: What is judged and timed; at least one, names unique.
        precision: Which arithmetic a candidate may use: `strict`, `tf32`, `bf16` or `fp16`.
        library: Whether a candidate may call vendor libraries: `forbidden`, `gemm-only` or `allowed`.
        mode: Whether `Model` is put in `train` or `eval` mode.
        weights: `frozen`: a candidate may prepare itself for the weights once; `live`: they may change.
        init: Arguments of `Model`; None: what `get_init_inputs` returns.
        neighbours: Cases at nearby sizes, to tell general kernels from those that know one size.
        varying: Dims of a task folder that may take other values; see `shrink`.
        origin: Where it was read from; no part of the hash.
        project: Somebody's own code in place of a reference; then `source` is the text of its regions, and `init`,
            `neighbours` and what the cases say of inputs mean nothing.
        targets: Names of devices that a search is for, the first above all; no part of the hash, since the work is
            the same on all of them.
    """

    name: str
    source: str
    cases: tuple[Case, ...]
    precision: str = "strict"
    library: str = "forbidden"
    mode: str = "eval"
    weights: str = "frozen"
    init: tuple[Any, ...] | None = field(default=None, hash=False)
    neighbours: tuple[Case, ...] = ()
    varying: tuple[str, ...] = ()
    origin: str = ""
    project: Project | None = None
    targets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("library", self.library, LIBRARIES)
        check_choice("mode", self.mode, MODES)
        check_choice("weights", self.weights, WEIGHTS)
        names = [case.name for case in self.cases]
        require(bool(names), "the task has no cases.")
        require(len(set(names)) == len(names), f"two cases share a name: {', '.join(names)}.")
        _check_targets(self.targets)

    @cached_property
    def hash(self) -> str:
        """Hex sha256 of everything but name, origin and targets: equal hashes mean the same work."""
        wire = self.to_wire()
        if self.project is not None:
            wire["project"] = {key: value for key, value in wire["project"].items() if key != "prefix"}
        return content_hash({key: wire[key] for key in wire.keys() - {"name", "origin", "targets"}})

    def to_wire(self) -> dict[str, Any]:
        wire = plain_fields(self)
        if self.project is None:  # hashes of tasks without one stay what they were
            del wire["project"]
        if not self.targets:
            del wire["targets"]
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "Task":
        fields = dict(wire)
        for key in ("cases", "neighbours"):
            fields[key] = tuple(map(Case.from_wire, wire.get(key, ())))
        fields["varying"] = tuple(wire.get("varying", ()))
        fields["targets"] = tuple(wire.get("targets", ()))
        fields["init"] = None if wire.get("init") is None else tuple(wire["init"])
        fields["project"] = Project.from_wire(wire["project"]) if wire.get("project") else None
        return cls(**fields)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        example_inputs: Sequence[Any],
        *,
        name: str | None = None,
        precision: str = "strict",
        library: str = "forbidden",
        mode: str = "eval",
    ) -> "Task":
        """A task from a plain function and one example of its arguments.

        The function's text is taken together with the imports, literal constants and plain functions that it
        needs; decorators are left out. Tensors among the example become inputs of the same shape, dtype and
        layout, drawn from roughly the same distribution; other arguments are frozen as they are.
        """
        from kernelwright.tasks._function import describe_function

        source, case = describe_function(function, example_inputs)
        title = name or function.__name__
        origin = f"{function.__module__}.{function.__qualname__}"
        return cls(title, source, (case,), precision, library, mode, init=(), origin=origin)


def _check_targets(targets: tuple[str, ...]) -> None:
    for name in targets:
        fix = "Write it as `kernelwright worker join` says it, such as nvidia-h200 or amd-epyc-2-cores."
        require(bool(DEVICE.fullmatch(name)), f"targets names {name!r}, which cannot be the name of a device.", fix)
    twice = next((name for name in targets if targets.count(name) > 1), None)
    require(twice is None, f"targets names {twice!r} twice.", "Name each device once, the most important first.")
