"""An accepted kernel as the archive knows it: a hash, a cell, and how fast it was measured to be.

Fitness is the natural log of the speedup: twice as fast and half as fast are equally far from no change, and a
difference of two fitnesses is the log of how much faster one is than the other.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from kernelwright.archive._cell import Cell, to_cell
from kernelwright.archive._error import ArchiveError

# A kernel a thousand times slower than the baseline is worth as much as an empty cell: nothing.
FLOOR = -math.log(1000)


@dataclass(frozen=True)
class Entry:
    """One accepted kernel and one measurement of it.

    Args:
        candidate: Its hash.
        cell: Its strategy coordinates.
        log_speedup: Natural log of the speedup. `low`, `high`: the 95 % interval around it.
    """

    candidate: str
    cell: Cell
    log_speedup: float
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", to_cell(self.cell))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.log_speedup <= self.high):
            raise ArchiveError(
                f"candidate {self.candidate[:12]}: {self.low} <= {self.log_speedup} <= {self.high} is no interval of a "
                "log speedup; offer only accepted kernels that were timed, and report the others as failed"
            )

    @property
    def score(self) -> float:
        """What it adds to the QD score; never negative, so that filling a cell never takes anything away."""
        return max(0.0, self.log_speedup - FLOOR)

    @property
    def speed(self) -> str:
        """For a person: how many times as fast as the baseline."""
        return f"{math.exp(self.log_speedup):.2f}x"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Entry:
        return cls(**told)


def beats(challenger: Entry, elite: Entry) -> bool:
    """Whether the 95 % interval on the difference lies above zero.

    Both were measured against the same baseline, side by side. Taking their errors as independent makes the interval
    too wide rather than too narrow: what they share cancels in the difference.
    """
    margin = math.hypot(challenger.log_speedup - challenger.low, elite.high - elite.log_speedup)
    return challenger.log_speedup - elite.log_speedup > margin
