"""A recorded run once more: the same engine, with the replies and the verdicts that were kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

from kernelwright.engine._asking import reply_of
from kernelwright.engine._listening import CAME
from kernelwright.engine._optimize import Found, Means, Plan, play
from kernelwright.engine._profiles import PROFILED
from kernelwright.fleet import Job, Kind, Result
from kernelwright.propose import Replay
from kernelwright.store import Judged, Records
from kernelwright.tasks import Task

LETTERS = 10

# A candidate, and the device that it was judged on where the run names any.
Known = tuple[str, str | None]


class Recorded:
    """A fleet that knows what a run has heard, and says it again: of a kernel the first measurement first."""

    def __init__(self, records: Records, run: str) -> None:
        self._known: dict[Known, list[Judged]] = defaultdict(list)
        devices = records.run(run).settings.get("devices") or ()
        for judged in records.verdicts(run):
            if judged.used:
                self._known[judged.candidate, judged.device if devices else None].append(judged)
        self._profiles = {
            event.data["candidate"]: event.data["profile"] for event in records.events(run) if event.kind == PROFILED
        }
        self._told: Counter[Known] = Counter()
        self._waiting: list[Job] = []

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def finished(self, timeout: float) -> list[Result]:
        waiting, self._waiting = self._waiting, []
        return [self._profile(job) if job.profile_of else self._verdict(job) for job in waiting]

    def close(self) -> None: ...

    def _verdict(self, job: Job) -> Result:
        name = job.candidate, job.device
        known = self._known.get(name)
        if not known:
            reason = f"candidate {job.candidate[:LETTERS]} was not judged in the recorded run"
            return _result(job, Kind.REFUSED, reason=reason)
        judged = known[min(self._told[name], len(known) - 1)]
        self._told[name] += 1
        return _result(job, Kind.JUDGED, where=judged.device, judge=judged.judge, verdict=judged.verdict)

    def _profile(self, job: Job) -> Result:
        found = self._profiles.get(job.candidate, {"absent": "was not profiled in the recorded run"})
        if "absent" in found:
            return _result(job, Kind.PROFILED, reason=found["absent"])
        return _result(job, Kind.PROFILED, profile=found)


def _result(job: Job, kind: Kind, *, where: str = "recorded", judge: str = "", **what: Any) -> Result:
    return Result.of(job, kind, where=where, judge=judge, **what)


def recorded_replies(records: Records, run: str) -> Replay:
    """A model that says what was said in a run."""
    return Replay({kept.request: reply_of(kept) for kept in records.replies(run)})


def replay(records: Records, name: str, means: Means, *, in_order: bool = True) -> Found:
    """Plays a recorded run again, into another store. `in_order`: answers and verdicts come when they came then."""
    run = records.run(name)
    wire = records.task(run.task)
    assert wire is not None
    begun = means.store.begin_run(
        task=run.task, wire=wire, settings=run.settings, versions=run.versions, machine=run.machine
    )
    rehearsed = [event.data for event in records.events(run.id) if event.kind == CAME] if in_order else None
    return play(begun, Task.from_wire(wire), Plan.from_json(run.settings), replace(means, rehearsed=rehearsed))
