"""A kernel as C++ or SYCL. Every value is a vector; what is the same all along a row is worked out before it."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.propose.builtin._crew import Crew
from kernelwright.propose.builtin._frame import Frame, Names, parameter, pointer
from kernelwright.propose.builtin._genome import LaneGenes
from kernelwright.propose.builtin._kernels import Part
from kernelwright.propose.builtin._loops import Buffer, Shape, dense
from kernelwright.propose.builtin._passes import Passes
from kernelwright.propose.builtin._scope import Scope, indented

NEUTRAL = {"sum": "0.0f", "max": "-INFINITY", "min": "INFINITY", "prod": "1.0f"}
JOIN = {"sum": "{0} + {1}", "max": "max_({0}, {1})", "min": "min_({0}, {1})", "prod": "{0} * {1}"}
GROUP = "auto group = [&](auto whole, auto count, int64_t from, int64_t n) STEP {"


class Emission(Passes):
    """Text of one kernel.

    Attributes:
        stores_once: Whether each result is stored once, by a loop that the crew shares.
    """

    stores_once = True

    def __init__(self, frame: Frame, genome: LaneGenes, crew: Crew, in_memory: set[Buffer], name: str) -> None:
        super().__init__(frame, in_memory)
        self.genome, self.crew, self.name = genome, crew, name
        self.names = Names()

    def text(self) -> str:
        written = self.kernel.made()
        parameters = [parameter(buffer, written=buffer in written) for buffer in self.buffers]
        return self.crew.function(self.name, parameters, self.body())

    def call(self, arguments: Sequence[str]) -> str:
        return self.crew.call(self.name, arguments)

    def body(self) -> list[str]:
        raise NotImplementedError

    def scope(self) -> Scope:
        return Scope(self.frame, self.names, {})

    def saving(self, part: Part, value: str) -> str:
        stride = part.layout.strides[self.frame.lane_axis]
        store = self.crew.store(part.into, stride) if self.stores_once else "save"
        return f"{store}(whole, {pointer(part.into)} + {self.frame.address(part.layout)}, {stride}, {value}, n);"


def coordinates(index: str, shape: Shape) -> list[str]:
    """Counters of the loops over rows, out of one."""
    lines = []
    for place, (size, stride) in enumerate(zip(shape, dense(shape), strict=True)):
        divided = f"({index})" if stride == 1 else f"({index}) / {stride}"
        lines += [f"const int64_t i{place} = {divided}{f' % {size}' if place else ''};"]
    return lines


def loop(counter: str, size: int, inside: list[str]) -> list[str]:
    return [f"for ({counter} = 0; {counter.split()[-1]} < {size}; {counter.split()[-1]}++) {{", *indented(inside), "}"]


def accumulated(part: Part, name: str, value: str) -> str:
    assert part.how is not None
    return f"{name} = {JOIN[part.how].format(name, value)};"


def cleared(part: Part, name: str, count: str) -> list[str]:
    assert part.how is not None
    return [f"V {name}[{count}];", f"for (V& v : {name}) v = splat({NEUTRAL[part.how]});"]
