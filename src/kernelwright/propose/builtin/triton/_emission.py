"""Kernels as Triton."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kernelwright.propose.builtin._frame import Frame, pointer
from kernelwright.propose.builtin._kernels import Part, levels
from kernelwright.propose.builtin._loops import Buffer
from kernelwright.propose.builtin._passes import Passes
from kernelwright.propose.builtin._scope import indented
from kernelwright.propose.builtin.triton._finders import Finder, State, finder
from kernelwright.propose.builtin.triton._genome import TritonGenome
from kernelwright.propose.builtin.triton._pairs import Pair, of_kernel
from kernelwright.propose.builtin.triton._places import Chunk, Places, needed
from kernelwright.propose.builtin.triton._sheet import Sheet
from kernelwright.propose.builtin.triton._tile import Tile

# Loops over so few elements are written out.
SHORT_LOOP = 1 << 14


class Text(Passes, ABC):
    """A kernel's text around its body, and the line that calls it."""

    def __init__(
        self,
        places: Places,
        genome: TritonGenome,
        in_memory: set[Buffer],
        name: str,
        online: dict[Buffer, Buffer] | None = None,
    ) -> None:
        super().__init__(places.frame, in_memory, online)
        self._places, self.genome, self.name = places, genome, name

    @abstractmethod
    def body(self) -> list[str]: ...

    def text(self) -> str:
        lines = self.body()
        lines = [*needed(self._places.head(), lines), *lines]
        parameters = [pointer(buffer) for buffer in self.buffers]
        if self._places.apart:  # a number that the compiler knows nothing about, not even that it is even
            decorator = f'@triton.jit(do_not_specialize=["{self._places.apart}"])'
            parameters += [self._places.apart]
        else:
            decorator = "@triton.jit"
        return "\n".join([decorator, f"def {self.name}({', '.join(parameters)}):", *indented(lines)])

    def call(self, arguments: Sequence[str]) -> str:
        given = [*arguments, *(["0"] if self._places.apart else []), f"num_warps={self._places.warps}"]
        return f"{self.name}[({self._places.programs},)]({', '.join(given)})"


class Emission(Text):
    """Blocks of elements, or passes over rows."""

    def __init__(self, frame: Frame, genome: TritonGenome, in_memory: set[Buffer], name: str) -> None:
        pairs = of_kernel(frame.kernel, in_memory) if genome.online else {}
        self.tile = Tile(frame, genome, _passes(frame, pairs))
        # What is on the chip is gone over as often as need be.
        self._pairs = pairs if self.tile.steps else {}
        super().__init__(self.tile, genome, in_memory, name, _online(self._pairs))
        self.sheet = Sheet(self.tile)
        self._kept = self.tile.kept_chunk() if self.tile.kept else None

    def body(self) -> list[str]:
        if not self.tile.has_rows:
            return self._map()
        for level in self.passes():
            self._pass(level)
        for part in self.row_results():
            value = self.sheet.value(part.expression) if not part.how else self._found(part)
            self.sheet.lines += [self.sheet.store(part, value)]
        return self._with_kept(self.sheet.lines)

    def _found(self, part: Part) -> str:
        return f"{pointer(part.into)[:-1]}"

    def _with_kept(self, lines: list[str]) -> list[str]:
        return [*needed(self._kept.definitions, lines), *lines] if self._kept else lines

    def _map(self) -> list[str]:
        for part in self.kernel.parts:
            value = self.sheet.value(part.expression)
            self.sheet.lines += [self.sheet.store(part, value)]
        return self.sheet.lines

    # A pass over the row

    def _pass(self, level: int) -> None:
        firsts = {pair.first for pair in self._pairs.values()}
        parts = [part for part in self.in_pass(level) if part.into not in firsts]
        finders = [finder(self.sheet, part, self._pairs.get(part.into)) for part in parts if part.how]
        stored = [part for part in parts if not part.how]
        states: list[list[State]] = [[] for _ in finders]
        if self._kept:
            self._at_once(finders, stored, states, self._kept)
        if self.tile.steps and parts:
            self._in_steps(finders, stored, states, level)
        for one, found in zip(finders, states, strict=True):
            one.settle(found)

    def _at_once(self, finders: list[Finder], stored: list[Part], states: list[list[State]], chunk: Chunk) -> None:
        for one, found in zip(finders, states, strict=True):
            found.append(one.at_once(chunk))
        self._stores(stored, chunk)
        self.sheet.lines += chunk.lines
        chunk.lines = []

    def _in_steps(self, finders: list[Finder], stored: list[Part], states: list[list[State]], level: int) -> None:
        backward = level % 2 == 1 and self.genome.again == "backward"
        chunk = self.tile.looped_chunk(backward=backward)
        chunk.policy = self._policy(level)
        for one in finders:
            one.begin()
        for one in finders:
            one.step(chunk)
        self._stores(stored, chunk)
        inside = [*needed(chunk.definitions, chunk.lines), *chunk.lines]
        self.sheet.lines += [f"for step in {self._range()}:", *indented(inside)]
        for one, found in zip(finders, states, strict=True):
            found.append(one.end())

    def _stores(self, stored: list[Part], chunk: Chunk) -> None:
        for part in stored:
            value = self.sheet.value(part.expression, chunk)
            chunk.lines += [self.sheet.store(part, value, chunk)]

    def _range(self) -> str:
        if self.tile.steps * self.tile.rows * self.tile.block <= SHORT_LOOP:
            return f"tl.static_range({self.tile.steps})"
        stages = f", num_stages={self.genome.stages}" if self.genome.stages > 1 else ""
        return f"tl.range(0, {self.tile.steps}{stages})"

    def _policy(self, level: int) -> str:
        if not self.genome.evict:
            return ""
        last = level == max(self.passes())
        return f', eviction_policy="evict_{"first" if last else "last"}"'


def _online(pairs: dict[Buffer, Pair]) -> dict[Buffer, Buffer]:
    return {second: pair.first for second, pair in pairs.items()}


def _passes(frame: Frame, pairs: dict[Buffer, Pair]) -> int:
    """How often rows are gone over; what is one value a row comes at their end."""
    found = levels(frame.kernel, _online(pairs))
    return max(found[part.into] for part in frame.kernel.parts if part.how or not frame.is_row_result(part)) + 1
