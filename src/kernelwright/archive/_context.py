"""What a profiler's word about a parent makes more or less likely to help, before anything was tried.

Factors on the prior rate at which a direction makes elites. They are a judgement, not a measurement, and a handful of
recorded transitions outweighs them. A word that is not here shifts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kernelwright.archive._cell import WITHIN, Direction

FACTORS: Final[Mapping[str, Mapping[Direction, float]]] = {
    # Fewer bytes, or the same in wider and better placed accesses; fusing passes saves bytes too.
    "memory": {("memory", 1): 2.0, ("algorithm", 1): 1.5, ("memory", -1): 0.5, ("coordination", 1): 0.7},
    # Less arithmetic, or the same on better units; moving data more cleverly will not help.
    "compute": {("algorithm", 1): 2.0, WITHIN: 1.5, ("memory", 1): 0.7, ("algorithm", -1): 0.5},
    # Waiting: for memory (prefetch, stage ahead) or for each other (fewer barriers).
    "latency": {("memory", 1): 1.5, ("coordination", -1): 1.5, WITHIN: 1.5, ("coordination", 1): 0.7},
    # Too little work to a launch: do more in one, and with less ceremony.
    "launch": {("algorithm", 1): 2.0, ("coordination", 1): 1.5, ("memory", -1): 1.5, ("memory", 1): 0.5},
    # Workers without work: share it out among more of them.
    "idle": {("coordination", 1): 2.0, ("coordination", -1): 0.5, ("memory", 1): 0.7},
}


def factor(bottleneck: str | None, direction: Direction) -> float:
    return FACTORS.get(bottleneck or "", {}).get(direction, 1.0)
