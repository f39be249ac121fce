"""Large pieces of memory are read, written and compared by two threads: one alone does not keep a machine busy.

Nothing is left running when the work is done; the second thread sleeps until there is more.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

LARGE = 1 << 20
_CORES = os.sched_getaffinity(0)

T = TypeVar("T")


def in_halves(work: Callable[[slice], T], length: int, *, step: int = 1, large: int = LARGE) -> list[T]:
    """Has work done on all of a length, in two parts if it is large, the second beginning at a multiple of `step`."""
    middle = length // 2 // step * step
    if length < large or not middle:
        return [work(slice(0, length))]
    second = _helper(os.getpid()).submit(work, slice(middle, length))
    try:
        first = work(slice(0, middle))
    finally:
        second.exception()  # not before it is done with the memory
    return [first, second.result()]


@functools.cache
def _helper(pid: int) -> ThreadPoolExecutor:
    """A process that was forked has none of its parent's threads."""
    return ThreadPoolExecutor(1, thread_name_prefix="half", initializer=_run_anywhere)


def _run_anywhere() -> None:
    """Whoever begins it may be bound to one core, and go before others there."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, _CORES)
