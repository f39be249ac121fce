"""The worker: judges what waits in a spool folder, on the machine it runs on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from kernelwright.fleet._courtroom import MOST_FAULTS, Courtroom, Fault, JudgeMaker
from kernelwright.fleet._desk import LEASE_S, Desk
from kernelwright.fleet._error import FleetError
from kernelwright.fleet._folder import Folder
from kernelwright.fleet._job import LETTERS, PROFILE, Job, Kind, Result, judge_version
from kernelwright.judge import Judge

BEATS_A_LEASE = 6
POLL_S = 1.0


class Worker:
    """Judges jobs of a spool folder one at a time. A context manager.

    Args:
        path: The folder.
        judges: Makes the judge.
        lease_s: After how long without a sign of life another worker is taken for dead.
        say: Is told in a line what happens.

    Attributes:
        left: Jobs that wait for another version of the judge, by version.
    """

    def __init__(
        self,
        path: Path,
        *,
        judges: JudgeMaker = Judge,
        lease_s: float = LEASE_S,
        say: Callable[[str], None] = print,
    ) -> None:
        self._desk = Desk(Folder.found(path), lease_s=lease_s)
        self._courtroom = Courtroom(judges)
        self._say = say
        self._last_task = ""
        self._held = ""
        self._failed: set[str] = set()
        self.left: dict[str, int] = {}

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        """Whoever stops this worker has nothing against the job it holds."""
        if self._held:
            self._desk.put_back(self._held)
        self._courtroom.close()

    def judge_waiting(self) -> int:
        """Judges all that wait, and says how many those were. Raises FleetError where this machine fails at them."""
        number = 0
        while (name := self._take()) is not None:
            number += self._hear(name)
            self._held = ""
        return number

    def watch(self) -> NoReturn:
        """The same for ever. Jobs for another version are told once."""
        told: dict[str, int] = {}
        while True:
            self.judge_waiting()
            if self.left != told and self.left:
                self._say(str(not_ours(self.left)))
            told = self.left
            time.sleep(POLL_S)

    # Which one

    def _take(self) -> str | None:
        """Profiles and those that failed before come last; those of the last task first, for it is ready."""
        self._desk.recover()
        self.left = {}
        waiting = self._desk.folder.names("waiting")
        failures = self._desk.fault_numbers()
        waiting.sort(key=lambda name: (name.endswith(PROFILE), failures[name], not name.startswith(self._last_task)))
        return next((name for name in waiting if self._is_ours(name) and self._hold(name)), None)

    def _hold(self, name: str) -> bool:
        """Noted before it is taken: this worker may be stopped at any moment."""
        self._held = name
        taken = self._desk.take(name)
        self._held = name if taken else ""
        return taken

    def _is_ours(self, name: str) -> bool:
        if self._desk.has_verdict(name):
            self._desk.folder.remove(f"waiting/{name}.json")
            return False
        if self._desk.faults(name).final:
            return False
        version = self._desk.judge_of(name)
        if version is None:
            return self._is_broken(name)
        if version != judge_version():
            self.left[version] = self.left.get(version, 0) + 1
        return version == judge_version()

    def _is_broken(self, name: str) -> bool:
        """Half a file may still be on its way; an old one is put aside, and whoever wants the job writes it again."""
        if self._desk.folder.age(f"waiting/{name}.json") > self._desk.lease_s:
            self._desk.folder.put_aside(f"waiting/{name}.json")
        return False

    # What comes of it

    def _hear(self, name: str) -> bool:
        """Whether there is a result now."""
        job = self._desk.job(name)
        if job is None:
            self._desk.folder.put_aside(f"taken/{name}.json")
            self._say(f"{name} was put aside: its file or its task's is damaged")
            return False
        self._last_task = name[:LETTERS]
        try:
            with self._alive(name):
                result = self._courtroom.hear(job)
        except Fault as fault:
            self._failed_at(name, fault)
            return False
        self._finish(job, result)
        return True

    def _finish(self, job: Job, result: Result) -> None:
        self._failed.clear()
        self._desk.put_result(result)
        self._desk.folder.remove(f"taken/{job.name}.json")
        self._say(f"{job.name} {_told(result)}")

    def _failed_at(self, name: str, fault: Fault) -> None:
        """Another machine may do better, and so may this one, but not for ever."""
        self._desk.put_fault(name, str(fault), self._courtroom.where, hopeless=fault.hopeless)
        self._desk.put_back(name)
        self._say(f"{name} could not be judged here: {fault}")
        if not fault.hopeless:
            self._failed.add(name)
        if len(self._failed) >= MOST_FAULTS:
            raise FleetError(
                f"this machine failed at {len(self._failed)} jobs in a row: {fault}",
                "run `kernelwright doctor` here, then start the worker again",
            )

    @contextmanager
    def _alive(self, name: str) -> Iterator[None]:
        """Signs of life while a job is heard."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self._desk.lease_s / BEATS_A_LEASE):
                self._desk.beat(name)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _told(result: Result) -> str:
    if result.kind is Kind.PROFILED:
        return f"profiled: {result.profile['bottleneck']['name'] if result.profile else result.reason}"
    if result.kind is not Kind.JUDGED or result.verdict is None:
        return f"refused: {result.reason}"
    verdict: dict[str, Any] = result.verdict
    name, ratio = next(iter(verdict["speedup"].items()), ("", None))
    speed = f", {ratio['ratio']:.2f}x {name}" if ratio else ""
    return f"{verdict['status']}{speed}, in {verdict['seconds']['total']:.1f} s"


def not_ours(left: dict[str, int]) -> FleetError:
    """For jobs that another version is asked for."""
    told = ", ".join(f"{number} for judge {version}" for version, number in sorted(left.items()))
    return FleetError(
        f"jobs wait for another version: {told}; this is {judge_version()}",
        "install that version of kernelwright here, or run the search with this one",
    )
