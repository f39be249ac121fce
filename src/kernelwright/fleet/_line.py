"""Jobs that wait for one judge: first come, first heard, and profiles behind everybody else."""

from __future__ import annotations

import threading
from collections import deque

from kernelwright.fleet._job import Job


class Line:
    """Filled by one thread, emptied by another."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._profiles: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, job: Job) -> None:
        with self._changed:
            (self._jobs if job.profile_of is None else self._profiles).append(job)
            self._changed.notify()

    def take(self) -> Job | None:
        """Waits for one; None once the line is closed, whoever still waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._jobs or self._profiles)
            if self._closed:
                return None
            return (self._jobs or self._profiles).popleft()

    def next(self) -> list[Job]:
        """Those still to be judged, in order."""
        with self._changed:
            return list(self._jobs)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
