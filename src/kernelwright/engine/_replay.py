"""A recorded run once more: the same engine, with the replies and the verdicts that were kept."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kernelwright.archive import Archive
from kernelwright.engine._optimize import Found, Means, Plan, play
from kernelwright.fleet import Job, Kind, Result
from kernelwright.propose import Replay, Reply
from kernelwright.store import Answered, Judged, Records
from kernelwright.tasks import Task


class Recorded:
    """A fleet that knows what was measured in a run, and answers with it: the first time with the first measurement."""

    def __init__(self, records: Records, run: str) -> None:
        self._known: dict[str, list[Judged]] = defaultdict(list)
        for judged in records.verdicts(run):
            if judged.used:
                self._known[judged.candidate].append(judged)
        self._told: dict[str, int] = defaultdict(int)
        self._waiting: list[Job] = []

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def finished(self, timeout: float) -> list[Result]:
        waiting, self._waiting = self._waiting, []
        return [self._result(job) for job in waiting]

    def close(self) -> None: ...

    def _result(self, job: Job) -> Result:
        known = self._known.get(job.candidate)
        about: dict[str, Any] = {"job": job.name, "candidate": job.candidate}
        if not known:
            reason = f"candidate {job.candidate[:10]} was not judged in the recorded run"
            return Result(kind=Kind.REFUSED, where="recorded", judge="", reason=reason, **about)
        judged = known[min(self._told[job.candidate], len(known) - 1)]
        self._told[job.candidate] += 1
        return Result(kind=Kind.JUDGED, where=judged.device, judge=judged.judge, verdict=judged.verdict, **about)


def recorded_replies(records: Records, run: str) -> Replay:
    """A model that says what was said in a run."""
    return Replay({kept.request: _reply(kept) for kept in records.replies(run)})


def replay(records: Records, name: str, means: Means) -> Found:
    """Plays a recorded run again, into another store."""
    run = records.run(name)
    wire = records.task(run.task)
    assert wire is not None
    begun = means.store.begin_run(
        task=run.task, wire=wire, settings=run.settings, versions=run.versions, machine=run.machine
    )
    return play(begun, Task.from_wire(wire), Plan.from_json(run.settings), means)


def archive_of(records: Records, run: str) -> Archive:
    """What a run has found, learned again from its moves."""
    archive = Archive()
    for move in records.moves(run):
        archive.replay(move.data)
    return archive


def _reply(kept: Answered) -> Reply:
    return Reply(
        text=kept.text,
        model=kept.model,
        tokens_in=kept.tokens_in,
        tokens_out=kept.tokens_out,
        dollars=kept.dollars,
        seconds=kept.seconds,
        finish=kept.finish,
    )
