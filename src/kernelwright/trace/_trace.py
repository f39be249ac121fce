"""One trace of a program: where its time goes, module by module and operator by operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelwright.trace._error import TraceError
from kernelwright.trace._program import Program
from kernelwright.trace._spot import Spot


@dataclass(frozen=True)
class Operator:
    """One operator on tensors of the same shapes and dtypes. `seconds`: its own, under the profiler."""

    name: str
    tensors: str
    calls: int
    seconds: float


@dataclass(frozen=True)
class Trace:
    """Attributes:
    seconds: The program's, without what the stopwatch took.
    profiled_seconds: What the profiler saw of a second run; operators are shares of this.
    """

    seconds: float
    spots: tuple[Spot, ...]
    profiled_seconds: float
    operators: tuple[Operator, ...]


def trace(program: Program, *, operators: bool = True) -> Trace:
    """Runs the program once with a stopwatch at every module, and once more under torch's profiler."""
    found = program.found("modules", quiet=False)
    spots = tuple(map(Spot.from_json, found["spots"]))
    seen: dict[str, Any] = {"seconds": 0.0, "operators": []}
    if operators or not spots:
        seen = program.found("operators", quiet=True)
    if not spots and not seen["operators"]:
        raise TraceError(f"{program.script} never calls torch", "name the script that runs your model")
    return Trace(found["seconds"], spots, seen["seconds"], tuple(Operator(**one) for one in seen["operators"]))
