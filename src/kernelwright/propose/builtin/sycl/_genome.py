"""The choices that make one SYCL kernel of many for the same program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kernelwright.propose.builtin._genome import LaneGenes

# The first is what a draft begins with.
CHOICES: Mapping[str, Sequence[Any]] = {
    "width": (16, 8, 1, 4),
    "unroll": (4, 2, 1, 8),
    "fuse": ("all", "reductions", "none"),
    "beforehand": (True, False),
    "keep": ("costly", "none", "all"),
    "online": (False, True),
    "functions": ("exact", "fast"),
    "block": (4096, 1024, 16384, 65536),
    "parts": (16, 64, 4, 1),
    "items": (1, 16, 32, 64, 8),
    "team": ("group", "subgroup", "item"),
    "subgroup": (16, 8, 32),
    "tile_rows": (8, 4, 6, 12),
    "tile_columns": (2, 1, 4),
    "turn": (True, False),
    "stack": (1, 2, 4),
    "local": ("auto", "right", "both"),
    "depth": (32, 64, 16),
}


@dataclass(frozen=True, kw_only=True)
class SyclGenome(LaneGenes):
    """One way to write a program in SYCL.

    Attributes:
        width: Lanes of a vector, of which a work-item has one at a time; one lane is a plain number.
        keep: What later passes over a row find in local memory rather than compute again: nothing, costly values, all.
        items: Work-items of a group.
        team: Who shares a row and joins what was found in it: a work-group, a sub-group, or nobody.
        subgroup: Work-items of a sub-group, where sub-groups share rows.
        tile_rows, tile_columns: Rows, and vectors in each, of a product that a work-item sums in registers.
        turn: Whether a right matrix whose columns do not lie side by side is turned by a kernel of its own, once.
        stack: Work-items of a group one above the other in a product; the others stand side by side.
        local: Which matrices go through local memory: the right one where its columns do not lie side by side, the
            right one always, or both.
        depth: Rows of the right matrix that are in local memory at a time.
    """

    mark: ClassVar[str] = "# kernelwright builtin sycl:"
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES

    items: int = 1
    team: str = "group"
    subgroup: int = 16
    tile_rows: int = 8
    tile_columns: int = 2
    turn: bool = True
    stack: int = 1
    local: str = "auto"
    depth: int = 32
