"""Kernels labelled by hand with their strategy coordinates, by the definitions of docs/descriptors.md.

One module a language. They are read, never run. `trap` marks those that look like more than they are: what a reader
of words would take for a strategy that is not there.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    """A candidate's file, its cell (memory, algorithm, coordination), and why."""

    name: str
    cell: tuple[int, int, int]
    why: str
    source: str
    trap: bool = False


def candidate(language: str, text: str, *calls: str) -> str:
    """The file around a native text; `calls` are the lines of `forward`."""
    lines = "\n".join(f"        {call}" for call in calls)
    return f'''import torch

from kernelwright import native

lib = native.{language}(
    r"""{text}"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x, y, *sizes):
{lines}
        return y
'''
