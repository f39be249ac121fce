"""C++: threads share the tasks of a kernel, and each does its own alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kernelwright.propose.builtin._genome import Genome
from kernelwright.propose.builtin._kernels import Kernel
from kernelwright.propose.builtin._loops import Buffer
from kernelwright.propose.builtin._scope import indented

# Below so many elements threads cost more than they bring.
WORTH_THREADS = 1 << 14
# Results so large leave the nearer caches anyway before anybody reads them.
WORTH_STREAMING = 1 << 18
# Longer rows are not kept: they would only move the traffic.
LARGEST_ROW = 1 << 18


class Threads:
    """Dealt out by OpenMP."""

    room = LARGEST_ROW

    def __init__(self, genome: Genome) -> None:
        self._genome = genome
        self.stride = genome.unroll * genome.width
        self._streams = False

    def function(self, name: str, parameters: Sequence[str], body: list[str]) -> str:
        return "\n".join([f'extern "C" void {name}({", ".join(parameters)}) {{', *indented(body), "}"])

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return f"lib.{name}({', '.join(arguments)})"

    def store(self, buffer: Buffer, stride: int) -> str:
        can = buffer.role == "output" and buffer.kind == "float" and stride == 1
        wanted = {"streamed": True, "cached": False, "auto": prod(buffer.shape) >= WORTH_STREAMING}
        if can and wanted[self._genome.stores]:
            self._streams = True
            return "stream"
        return "save"

    def parallel(self, kernel: Kernel, tasks: int, inside: list[str], kept: Sequence[str]) -> list[str]:
        """A loop over tasks, shared among threads where that is worth it."""
        loop = [f"for (int64_t t = 0; t < {tasks}; t++) {{", *indented(inside), "}"]
        worth = tasks > 1 and prod(kernel.shape) >= WORTH_THREADS
        if worth:
            loop = [f"#pragma omp for schedule({self._genome.schedule}) nowait", *loop]
        size = f"{prod(kernel.inner)} * sizeof(float)"
        made = [f"float* {name} = (float*)std::malloc({size});" for name in kept]
        loop += ["streamed();"] if self._streams else []
        body = [*made, *loop, *(f"std::free({name});" for name in kept)]
        threads = f" num_threads({self._genome.threads})" if self._genome.threads else ""
        return [f"#pragma omp parallel{threads}", "{", *indented(body), "}"] if worth else body

    def lane_loop(self, start: str, end: str) -> list[str]:
        if start == "0" and end.isdigit():
            return self._known_loop(int(end))
        step = f"{self._genome.unroll} * W"
        return [
            f"int64_t l = {start};",
            f"for (; l + {step} <= {end}; l += {step}) group(yes(), number<{self._genome.unroll}>(), l, W);",
            f"for (; l + W <= {end}; l += W) group(yes(), number<1>(), l, W);",
            f"if (l < {end}) group(no(), number<1>(), l, {end} - l);",
        ]

    def _known_loop(self, size: int) -> list[str]:
        """The same where it is known how many: what is left after the last group is one group more."""
        unroll, width = self._genome.unroll, self._genome.width
        vectors, rest = divmod(size % self.stride, width)
        lines = ["int64_t l = 0;"]
        if size >= self.stride:
            step = f"for (; l + {self.stride} <= {size}; l += {self.stride})"
            lines += [f"{step} group(yes(), number<{unroll}>(), l, W);"]
        if vectors:
            lines += [f"group(yes(), number<{vectors}>(), l, W);", f"l += {vectors} * W;"]
        return [*lines, *([f"group(no(), number<1>(), l, {rest});"] if rest else [])]

    def in_order(self, size: int) -> list[str]:
        return [
            "int64_t l = 0;",
            f"for (; l + W <= {size}; l += W) group(yes(), number<1>(), l, W);",
            f"if (l < {size}) group(no(), number<1>(), l, {size} - l);",
        ]

    def joined(self, how: str, value: str) -> str:
        return value

    def once(self, lines: list[str]) -> list[str]:
        return lines

    def scanned(self, how: str, value: str) -> str:
        return f"scanned_{how}({value}, carry)"
