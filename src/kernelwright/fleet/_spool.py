"""A folder as a fleet: jobs are written into it, and workers elsewhere write what came of them."""

from __future__ import annotations

import time
from pathlib import Path

from kernelwright.fleet._desk import LEASE_S, Desk
from kernelwright.fleet._folder import Folder
from kernelwright.fleet._job import Job, Kind, Result, judge_version

POLL_S = 0.5


class Spool:
    """Jobs for workers that open this folder. Verdicts stay in it: the same job again has its verdict at once.

    Args:
        path: The folder; made where there is none.
        lease_s: After how long without a sign of life a worker is taken for dead.
    """

    def __init__(self, path: Path, *, lease_s: float = LEASE_S) -> None:
        self._desk = Desk(Folder.made(path), lease_s=lease_s)
        self._under_way: dict[str, Job] = {}

    def submit(self, job: Job) -> None:
        """A job that was given up before gets a new chance; one that a worker has taken is left to him."""
        if job.name in self._under_way:
            return
        self._under_way[job.name] = job
        if not self._desk.has_verdict(job.name):
            self._desk.forget_faults(job.name)
            if not self._desk.is_taken(job.name):
                self._desk.put_job(job)

    def finished(self, timeout: float) -> list[Result]:
        end = time.monotonic() + timeout
        while True:
            found = self._look()
            left = end - time.monotonic()
            if found or not self._under_way or left <= 0:
                return found
            time.sleep(min(POLL_S, left))

    def close(self) -> None:
        """Jobs stay in the folder: workers may go on, and their verdicts are there when they are asked for again."""
        self._under_way.clear()

    def _look(self) -> list[Result]:
        self._desk.recover()
        seen = [self._outcome(job) for job in list(self._under_way.values())]
        return [result for result in seen if result is not None]

    def _outcome(self, job: Job) -> Result | None:
        result = self._desk.result(job) or self._given_up(job)
        if result is None:
            self._make_sure_it_waits(job)
        elif result.kind is Kind.FOREIGN:
            self._desk.folder.put_aside(f"verdicts/{job.name}.json")
            self._desk.put_job(job)
        else:
            self._desk.clear(job.name)
            del self._under_way[job.name]
        return result

    def _given_up(self, job: Job) -> Result | None:
        faults = self._desk.faults(job.name)
        if not faults.final:
            return None
        return Result.of(job, Kind.INFRA, where=faults.where, judge=judge_version(), reason=faults.reason)

    def _make_sure_it_waits(self, job: Job) -> None:
        """A job whose file was lost or put aside is written again; twice does no harm."""
        if not self._desk.is_under_way(job.name) and not self._desk.has_verdict(job.name):
            self._desk.put_job(job)
