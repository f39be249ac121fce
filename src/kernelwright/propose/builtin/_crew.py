"""Who does the work of a kernel, and how it is dealt out: what the writers of loops leave to a language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kernelwright.propose.builtin._kernels import Kernel
from kernelwright.propose.builtin._loops import Buffer


class Crew(Protocol):
    """Those who share one kernel's tasks: threads of a processor, or work-items."""

    @property
    def stride(self) -> int:
        """Lanes that are worked on at a time."""

    @property
    def room(self) -> int:
        """Elements of a row that can be kept for later passes."""

    def function(self, name: str, parameters: Sequence[str], body: list[str]) -> str:
        """The kernel's text."""

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """The line of Python that runs it, once its text is written."""

    def store(self, buffer: Buffer, stride: int) -> str:
        """The function by which vectors go to memory; `stride` is from lane to lane."""

    def parallel(self, kernel: Kernel, tasks: int, inside: list[str], kept: Sequence[str]) -> list[str]:
        """What is done for every task `t`. `kept`: names of rows to be kept meanwhile."""

    def lane_loop(self, start: str, end: str) -> list[str]:
        """Groups of vectors, then single ones, then what is left of one."""

    def in_order(self, size: int) -> list[str]:
        """Single vectors one after the other, for what is carried from one to the next."""

    def joined(self, how: str, value: str) -> str:
        """What was found by all who share a task, of what each found."""

    def once(self, lines: list[str]) -> list[str]:
        """What one of those who share a task does for all."""

    def scanned(self, how: str, value: str) -> str:
        """The next vector of a scan; `carry` holds what came before it."""
