"""What a kernel reads and writes, and in which pass over its rows, whatever language it is written in."""

from __future__ import annotations

from kernelwright.propose.builtin._frame import Frame
from kernelwright.propose.builtin._kernels import Part, levels
from kernelwright.propose.builtin._loops import Buffer


class Passes:
    """`in_memory`: buffers that others read, which must be written. `online`: what is found along with what."""

    def __init__(self, frame: Frame, in_memory: set[Buffer], online: dict[Buffer, Buffer] | None = None) -> None:
        self.frame, self.kernel, self.in_memory = frame, frame.kernel, in_memory
        self.online = online or {}
        self.levels = levels(self.kernel, self.online)

    @property
    def buffers(self) -> list[Buffer]:
        """What the kernel is called with: what it reads, then what it writes."""
        written = (part.into for part in self.kernel.parts if part.into in self.in_memory)
        return list(dict.fromkeys([*self._read(), *written]))

    def _read(self) -> list[Buffer]:
        return list(dict.fromkeys(one.buffer for part in self.kernel.parts for one in self.frame.reads(part)))

    def passes(self) -> range:
        return range(max(self.levels.values()) + 1)

    def in_pass(self, level: int) -> list[Part]:
        """What is found or stored at each point in this pass; what is one value a row comes at the row's end."""
        parts = [part for part in self.kernel.parts if self.levels[part.into] == level]
        return [part for part in parts if part.how or not self.frame.is_row_result(part)]

    def row_results(self) -> list[Part]:
        return [part for part in self.kernel.parts if part.into in self.in_memory and self.frame.is_row_result(part)]
