"""This machine as a fleet: one judge in a thread, one job at a time, so that nothing disturbs what is timed."""

from __future__ import annotations

import contextlib
import queue
import threading

from kernelwright.fleet._courtroom import Courtroom, JudgeMaker
from kernelwright.fleet._job import Job, Result
from kernelwright.judge import Judge

# How long `close` waits for the job that is being heard; processes of a judge end with the program in any case.
PATIENCE_S = 10.0


class Here:
    """Judges on this machine, in the order of submission.

    Args:
        judges: Makes the judge; it is made, used and closed in one thread.
    """

    def __init__(self, *, judges: JudgeMaker = Judge) -> None:
        self._judges = judges
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._under_way: set[str] = set()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="judge", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        if job.name not in self._under_way:
            self._under_way.add(job.name)
            self._waiting.put(job)

    def finished(self, timeout: float) -> list[Result]:
        found: list[Result] = []
        with contextlib.suppress(queue.Empty):
            if self._under_way:
                found.append(self._done.get(timeout=timeout))
            while True:
                found.append(self._done.get_nowait())
        self._under_way -= {result.job for result in found}
        return found

    def close(self) -> None:
        self._closing.set()
        self._waiting.put(None)
        self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        courtroom = Courtroom(self._judges)
        try:
            while (job := self._waiting.get()) is not None and not self._closing.is_set():
                self._done.put(courtroom.hear_patiently(job))
        finally:
            courtroom.close()
