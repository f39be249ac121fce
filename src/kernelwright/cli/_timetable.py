"""How long each of several searches may take, so that all of them together keep a promise.

A search takes more than its own time: before it the judge is tried on the task, and after it what waits is judged and
the winner measured. How much more is known once one is over; until then it is what two quiet cores take.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

# Seconds of a search and beside it; once a machine, until its compiler and its ceilings are known.
SEARCH, BESIDE, ONCE = 10.0, 14.0, 20.0
SHORTEST = 4.0
# Seconds that the judge needs for a quick kernel, and how many make a search.
KERNEL, FEWEST = 2.0, 3


class Timetable:
    """For so many searches, one after the other; the first begins now.

    Args:
        promise: Seconds after which all of them are over; what cannot be over by then should not be begun.
    """

    def __init__(self, searches: int, *, promise: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._left = clock, searches
        self._began = clock()
        self._end = self._began + ONCE + searches * (SEARCH + BESIDE)
        self._promised = self._began + promise
        self._seen: list[float] = []

    @property
    def _once(self) -> float:
        return 0.0 if self._seen else ONCE

    @property
    def _beside(self) -> float:
        return statistics.median(self._seen) if self._seen else BESIDE

    def has_room(self) -> bool:
        """Whether one more can be over in time; the first always may."""
        return not self._seen or self._clock() + SHORTEST + self._beside <= self._promised

    def seconds(self) -> float:
        """What the next search may take: an equal part of what is left."""
        left = self._end - self._clock() - self._once
        return max(SHORTEST, left / self._left - self._beside)

    @staticmethod
    def kernels(seconds: float) -> int:
        """How many can be judged in so short a time: what waits when it is up is judged all the same."""
        return max(FEWEST, round(seconds / KERNEL))

    def passed(self, planned: float, taken: float) -> None:
        """A search to which so much was given has taken so much in all."""
        self._left -= 1
        self._seen.append(max(BESIDE, taken - planned - self._once))
