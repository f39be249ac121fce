"""A kernel as C++. Every value is a vector; what is the same all along a row is worked out before the row is."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kernelwright.propose.builtin._frame import Frame, Names, parameter, pointer
from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._kernels import Part
from kernelwright.propose.builtin._loops import Buffer, Shape, dense
from kernelwright.propose.builtin._passes import Passes
from kernelwright.propose.builtin._scope import Scope, indented

NEUTRAL = {"sum": "0.0f", "max": "-INFINITY", "min": "INFINITY", "prod": "1.0f"}
JOIN = {"sum": "{0} + {1}", "max": "max_({0}, {1})", "min": "min_({0}, {1})", "prod": "{0} * {1}"}
GROUP = "auto group = [&](auto whole, auto count, int64_t from, int64_t n) STEP {"
# Below so many elements threads cost more than they bring.
WORTH_THREADS = 1 << 14


class Emission(Passes):
    """Text of one kernel."""

    def __init__(self, frame: Frame, genome: Genome, in_memory: set[Buffer], name: str) -> None:
        super().__init__(frame, in_memory)
        self.genome, self.name = genome, name
        self.names = Names()

    def text(self) -> str:
        written = self.kernel.made()
        parameters = [parameter(buffer, written=buffer in written) for buffer in self.buffers]
        head = f'extern "C" void {self.name}({", ".join(parameters)}) {{'
        return "\n".join([head, *indented(self.body()), "}"])

    def call(self, arguments: Sequence[str]) -> str:
        return f"lib.{self.name}({', '.join(arguments)})"

    def body(self) -> list[str]:
        raise NotImplementedError

    def parallel(self, tasks: int, inside: list[str], kept: list[str]) -> list[str]:
        """A loop over tasks, shared among threads where that is worth it. `kept`: rows that each thread has."""
        loop = [f"for (int64_t t = 0; t < {tasks}; t++) {{", *indented(inside), "}"]
        worth = tasks > 1 and prod(self.kernel.shape) >= WORTH_THREADS
        if worth:
            loop = [f"#pragma omp for schedule({self.genome.schedule}) nowait", *loop]
        size = f"{prod(self.kernel.inner)} * sizeof(float)"
        made = [f"float* {name} = (float*)std::malloc({size});" for name in kept]
        body = [*made, *loop, *(f"std::free({name});" for name in kept)]
        threads = f" num_threads({self.genome.threads})" if self.genome.threads else ""
        return [f"#pragma omp parallel{threads}", "{", *indented(body), "}"] if worth else body

    def lane_loop(self, start: str, end: str) -> list[str]:
        """Groups of vectors, then single ones, then what is left of one."""
        if start == "0" and end.isdigit():
            return self._known_loop(int(end))
        step = f"{self.genome.unroll} * W"
        return [
            f"int64_t l = {start};",
            f"for (; l + {step} <= {end}; l += {step}) group(yes(), number<{self.genome.unroll}>(), l, W);",
            f"for (; l + W <= {end}; l += W) group(yes(), number<1>(), l, W);",
            f"if (l < {end}) group(no(), number<1>(), l, {end} - l);",
        ]

    def _known_loop(self, size: int) -> list[str]:
        """The same where it is known how many: what is left after the last group is one group more."""
        step = self.genome.unroll * self.genome.width
        vectors, rest = divmod(size % step, self.genome.width)
        lines = ["int64_t l = 0;"]
        if size >= step:
            call = f"group(yes(), number<{self.genome.unroll}>(), l, W)"
            lines += [f"for (; l + {step} <= {size}; l += {step}) {call};"]
        if vectors:
            lines += [f"group(yes(), number<{vectors}>(), l, W);", f"l += {vectors} * W;"]
        return [*lines, *([f"group(no(), number<1>(), l, {rest});"] if rest else [])]

    def scope(self) -> Scope:
        return Scope(self.frame, self.names, {})

    def saving(self, part: Part, value: str) -> str:
        stride = part.layout.strides[self.frame.lane_axis]
        return f"save(whole, {pointer(part.into)} + {self.frame.address(part.layout)}, {stride}, {value}, n);"


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
