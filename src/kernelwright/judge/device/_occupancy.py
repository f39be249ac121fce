"""How many blocks of a kernel a multiprocessor holds at once, by what a block takes and what there is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Registers are given out to a warp in such pieces, and from one of four files; shared memory in such pieces.
REGISTER_PIECE, REGISTER_FILES = 256, 4
SHARED_PIECE = 128
NEEDED = ("processors", "warp", "threads", "blocks", "registers", "shared_bytes")


@dataclass(frozen=True)
class Occupancy:
    """`share`: warps held over warps possible. `limited_by`: what runs out first. `waves`: the grid over what fits."""

    blocks: int
    share: float
    limited_by: str
    waves: float

    def to_json(self) -> dict[str, Any]:
        return {
            "blocks_per_processor": self.blocks,
            "share": round(self.share, 4),
            "limited_by": self.limited_by,
            "waves": round(self.waves, 3),
        }


def occupancy(
    *, grid: int, threads: int, registers: int, shared_bytes: int, limits: Mapping[str, int]
) -> Occupancy | None:
    """Of a kernel of `grid` blocks; None where a number is missing or the kernel could not run."""
    if grid < 1 or threads < 1 or any(limits.get(name, 0) < 1 for name in NEEDED):
        return None
    warps = math.ceil(threads / limits["warp"])
    fitting = {
        "threads": limits["threads"] // (warps * limits["warp"]),
        "blocks": limits["blocks"],
        "registers": _by_registers(warps, registers, limits),
        "shared memory": _by_shared(shared_bytes, limits),
    }
    scarce = min(fitting, key=lambda name: fitting[name])
    blocks = fitting[scarce]
    if blocks < 1:
        return None
    share = blocks * warps * limits["warp"] / limits["threads"]
    return Occupancy(blocks, min(1.0, share), scarce, grid / (blocks * limits["processors"]))


def _by_registers(warps: int, registers: int, limits: Mapping[str, int]) -> int:
    if registers < 1:
        return limits["blocks"]
    of_a_warp = math.ceil(registers * limits["warp"] / REGISTER_PIECE) * REGISTER_PIECE
    held = limits["registers"] // REGISTER_FILES // of_a_warp * REGISTER_FILES
    return held // warps


def _by_shared(shared_bytes: int, limits: Mapping[str, int]) -> int:
    taken = math.ceil((shared_bytes + limits.get("reserved_shared_bytes", 0)) / SHARED_PIECE) * SHARED_PIECE
    return limits["shared_bytes"] // taken if taken else limits["blocks"]
