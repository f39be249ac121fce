"""How numbers and names are written on the page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelwright.archive import Entry

LETTERS = 10
MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True)
class Speed:
    """How many times as fast as a baseline, and the 95 % interval."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, entry: Entry) -> Speed:
        return cls(math.exp(entry.log_speedup), math.exp(entry.low), math.exp(entry.high))

    @property
    def times(self) -> str:
        return times(self.ratio)

    @property
    def interval(self) -> str:
        return f"[{self.low:.2f}, {self.high:.2f}]"

    def __str__(self) -> str:
        return f"{self.times} {self.interval}"


def times(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio >= 0.1 else f"{ratio:.2g}x"


def kernel(candidate: str) -> str:
    return candidate[:LETTERS]


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.1f} min"
    return f"{seconds / HOUR:.1f} h"


def money(dollars: float, unpriced: int = 0) -> str:
    """Three figures of very small sums; what has no known price is said."""
    said = f"${dollars:,.2f}" if dollars >= 0.05 or not dollars else f"${dollars:.3g}"
    return f"{said} and {counted(unpriced, 'reply', 'replies')} of unknown price" if unpriced else said


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


def amount(value: float) -> str:
    """All figures of large and whole numbers, three of others."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
