"""Where threads run while the judge waits for them.

The kernel wakes threads where they ran last, and on few cores it often wakes two of them on the same one: the call
then takes twice as long or, where they wait for each other awake, ten times, by chance. So each busy thread of a
worker gets a core of its own before a call. The judge, who must notice the answer at once, has the last core to
himself where there are enough; where there are few, he goes to the front of its queue. A worker's first thread has all
its cores back before the call begins: threads begun during the call inherit them.
"""

from __future__ import annotations

import contextlib
import os

# On machines with at least so many cores the last one is the judge's.
ENOUGH_CORES = 4
# A thread is busy if it has lately used this share of what the busiest of its process has used.
BUSY_SHARE = 0.1
# Where in /proc/PID/stat it stands on which core a process runs, counted from what follows its state.
PROCESSOR = 35


def leave_the_judges_core() -> None:
    """Keeps this process and all that it will start off the judge's core, if he has one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) >= ENOUGH_CORES:
        os.sched_setaffinity(0, cores[:-1])


class Attention:
    """While it lasts, the judge runs on the last core, before anybody else there."""

    def __init__(self) -> None:
        self._cores = os.sched_getaffinity(0)
        self._policy = (os.sched_getscheduler(0), os.sched_getparam(0))

    def __enter__(self) -> Attention:
        if len(self._cores) > 1:
            os.sched_setaffinity(0, {max(self._cores)})
        with contextlib.suppress(PermissionError):  # a privilege: without it the answer is noticed a little later
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, *self._policy)
        os.sched_setaffinity(0, self._cores)

    def disturbed(self) -> bool:
        """Whether anybody else runs on the cores that the judge was given.

        Given all of them, the kernel's count of what is runnable says so. Given a part, he shares the machine by
        intent, and what runs on the others' cores is no reason to wait.
        """
        has_all = len(self._cores) == os.cpu_count()
        return _runnable() > 1 and (has_all or _running_on(self._cores))


class Threads:
    """The threads of one worker, and where they may run."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cores = sorted(_cores_of(pid))
        self._used: dict[int, int] = {}
        self._placed: set[int] = set()

    def spread(self) -> None:
        """Gives every busy thread a core of its own, if there are enough."""
        busy = self._busy()
        if 1 < len(busy) <= len(self._cores):
            for thread, core in zip(busy, self._cores, strict=False):
                if self._free(thread):
                    self._put(thread, [core])
                    self._placed.add(thread)
        elif len(busy) > len(self._cores):
            for thread in self._placed:
                self._put(thread, self._cores)

    def release(self) -> None:
        """Gives the first thread all cores again; it stays where it is."""
        if self._pid in self._placed:
            self._put(self._pid, self._cores)

    def _busy(self) -> list[int]:
        """The threads that have worked since the last look, the first thread before the others."""
        now = _used(self._pid)
        lately = {thread: used - self._used.get(thread, 0) for thread, used in now.items()}
        self._used = now
        enough = max(1.0, BUSY_SHARE * max(lately.values(), default=0))
        return sorted((t for t, used in lately.items() if used >= enough), key=lambda t: (t != self._pid, t))

    def _free(self, thread: int) -> bool:
        """Whether the thread may run anywhere, or only where it was put; what pinned itself is left alone."""
        with contextlib.suppress(ProcessLookupError):
            return thread in self._placed or os.sched_getaffinity(thread) == set(self._cores)
        return False

    def _put(self, thread: int, cores: list[int]) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.sched_setaffinity(thread, cores)


def _runnable() -> int:
    """Threads of the whole machine that run or wait for a core."""
    with open("/proc/loadavg", encoding="ascii") as load:
        return int(load.read().split()[3].partition("/")[0])


def _running_on(cores: set[int]) -> bool:
    """Whether a process besides this one runs on these cores or waits for them, by its first thread."""
    others = (name for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid())
    return any(_runs_on(name, cores) for name in others)


def _runs_on(pid: str, cores: set[int]) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        state, *numbers = stat.read().rpartition(")")[2].split()
        return state == "R" and int(numbers[PROCESSOR]) in cores
    return False


def _cores_of(pid: int) -> set[int]:
    with contextlib.suppress(ProcessLookupError):
        return os.sched_getaffinity(pid)
    return set()


def _used(pid: int) -> dict[int, int]:
    """Processor time by thread, in nanoseconds."""
    used = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{name}/schedstat", encoding="ascii") as stat:
                used[int(name)] = int(stat.read().split()[0])
    return used
