"""This machine as a fleet: one judge in a thread, one job at a time, so that nothing disturbs what is timed."""

from __future__ import annotations

import contextlib
import queue
import threading

from kernelwright.fleet._courtroom import Courtroom, JudgeMaker
from kernelwright.fleet._job import Job, Result
from kernelwright.fleet._line import Line
from kernelwright.judge import Judge

# How long `close` waits for the job that is being heard; processes of a judge end with the program in any case.
PATIENCE_S = 10.0


class Here:
    """Judges on this machine, in the order of submission; profiles are made when nobody waits to be judged.

    Args:
        judges: Makes the judge; it is made, used and closed in one thread.
    """

    def __init__(self, *, judges: JudgeMaker = Judge) -> None:
        self._courtroom = Courtroom(judges)
        self._waiting = Line()
        self._done: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._under_way: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="judge", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        if job.name not in self._under_way:
            self._under_way.add(job.name)
            self._waiting.put(job)
            self._courtroom.expect(job)

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
        self._waiting.close()
        self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        try:
            while (job := self._waiting.take()) is not None:
                self._courtroom.make_ready([job, *self._waiting.next()])
                self._done.put(self._courtroom.hear_patiently(job))
        finally:
            self._courtroom.close()
