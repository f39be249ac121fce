"""The choices that make one Triton kernel of many for the same program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kernelwright.propose.builtin._genome import Genes

# The first is what a draft begins with.
CHOICES: Mapping[str, Sequence[Any]] = {
    "fuse": ("all", "reductions", "none"),
    "block": (1024, 2048, 4096, 512, 8192),
    "warps": (4, 8, 2, 16),
    "rows": (8, 4, 2, 1, 16),
    "vectors": (False, True),
    "tile": (4096, 8192, 2048, 16384, 1024),
    "tile_warps": (8, 4, 16, 32, 2),
    "columns": (128, 64, 256, 32, 512),
    "chip": (16384, 32768, 65536, 8192, 4096),
    "hold": (0, 16384, 32768, 8192),
    "online": (True, False),
    "again": ("backward", "forward"),
    "stages": (1, 2, 3, 4),
    "evict": (False, True),
    "parts": (4096, 1024, 16384, 512),
    "tile_rows": (256, 128, 64, 32),
    "tile_columns": (64, 128, 32, 256),
    "depth": (32, 16, 64),
    "product_warps": (8, 4),
    "ahead": (3, 2, 4, 1),
    "products": ("tf32x3", "ieee", "tf32"),
}


@dataclass(frozen=True, kw_only=True)
class TritonGenome(Genes):
    """One way to write a program in Triton.

    Attributes:
        fuse: What shares a kernel: whatever can, reductions alone, or nothing.
        block: Elements that a program takes where there are no rows.
        warps: Warps of such a program.
        rows: Rows that such a program takes, at most, where windows overlap.
        vectors: Whether a lane of such a program may take neighbours side by side; else each takes one.
        tile: Elements that a program takes at a time where there are rows.
        tile_warps: Warps of such a program, or more where registers would not suffice.
        columns: Rows that a program takes where lanes run across them.
        chip: Elements of rows that are read once and kept on the chip, at most.
        hold: Of longer rows, how many elements are kept on the chip; the others are read again.
        online: Whether what can be found in one pass is: a maximum and a sum of exponentials, a mean and a variance.
        again: In which order the second pass over a row goes.
        stages: How many steps of a loop are under way at a time.
        evict: Whether caches are told what is read again and what is not.
        parts: Programs that share the work where there are fewer rows.
        tile_rows, tile_columns: Of a product, what a program works out.
        depth: Places along what is summed that are multiplied at a time.
        product_warps: Warps of such a program.
        ahead: How many steps of it are under way at a time.
        products: How floats are multiplied: each as three of tensor cores, as they are, or as one of tensor cores.
    """

    mark: ClassVar[str] = "# kernelwright builtin triton:"
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES

    fuse: str = "all"
    block: int = 1024
    warps: int = 4
    rows: int = 8
    vectors: bool = False
    tile: int = 4096
    tile_warps: int = 8
    columns: int = 128
    chip: int = 16384
    hold: int = 0
    online: bool = True
    again: str = "backward"
    stages: int = 1
    evict: bool = False
    parts: int = 4096
    tile_rows: int = 256
    tile_columns: int = 64
    depth: int = 32
    product_warps: int = 8
    ahead: int = 3
    products: str = "tf32x3"
