"""Where threads run while they are timed.

The kernel wakes threads where they ran last, and on few cores it often wakes two of them on the same one: the call
then takes twice as long, by chance. So each busy thread of a worker is put on a core of its own before its turn, and
the judge, who must notice the answer at once, goes to the front of the last core's queue. A worker's first thread
has all its cores back before the clock starts: threads begun during a call inherit them.
"""

from __future__ import annotations

import contextlib
import os
from types import TracebackType

# A thread is busy if it has used this share of what the busiest of its process has used.
BUSY_SHARE = 0.1


class Placement:
    """For the time of a block: the judge out of the workers' way, and workers' threads apart from each other."""

    def __init__(self) -> None:
        self._cores = sorted(os.sched_getaffinity(0))
        self._policy = (os.sched_getscheduler(0), os.sched_getparam(0))
        self._placed: set[int] = set()

    def __enter__(self) -> Placement:
        if len(self._cores) > 1:
            os.sched_setaffinity(0, self._cores[-1:])
        with contextlib.suppress(PermissionError):  # a privilege: without it the answer is noticed a little later
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, *self._policy)
        os.sched_setaffinity(0, self._cores)
        for thread in self._placed:
            self._put(thread, self._cores)

    def spread(self, pid: int) -> None:
        """Gives every busy thread of a process a core of its own, if there are enough."""
        busy = _busy_threads(pid)
        if not 1 < len(busy) <= len(self._cores):
            return
        for thread, core in zip(busy, self._cores, strict=False):
            if self._free(thread):
                self._put(thread, [core])
                self._placed.add(thread)

    def release(self, pid: int) -> None:
        """Gives the first thread all cores again; it stays where it is."""
        if pid in self._placed:
            self._put(pid, self._cores)

    def _free(self, thread: int) -> bool:
        """Whether the thread may run anywhere, or only where it was put; what pinned itself is left alone."""
        with contextlib.suppress(ProcessLookupError):
            return thread in self._placed or os.sched_getaffinity(thread) == set(self._cores)
        return False

    def _put(self, thread: int, cores: list[int]) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.sched_setaffinity(thread, cores)


def _busy_threads(pid: int) -> list[int]:
    """The threads that do the work, the first thread before the others."""
    used = _used(pid)
    enough = BUSY_SHARE * max(used.values(), default=0)
    return sorted(
        (thread for thread, time in used.items() if time >= enough), key=lambda thread: (thread != pid, thread)
    )


def _used(pid: int) -> dict[int, int]:
    """Processor time by thread, in nanoseconds."""
    used = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{name}/schedstat", encoding="ascii") as stat:
                used[int(name)] = int(stat.read().split()[0])
    return used
