"""A recorded run once more: the same engine, with the replies and the verdicts that were kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kernelwright.engine._asking import reply_of
from kernelwright.engine._listening import CAME
from kernelwright.engine._optimize import Found, Means, Plan, play
from kernelwright.engine._profiles import PROFILED
from kernelwright.engine._tuning import RACED
from kernelwright.fleet import Job, Kind, Result
from kernelwright.prompts import seed
from kernelwright.propose import Replay
from kernelwright.store import Birth, Genome, Judged, Outcome, Records, Run, State, Store
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
        self._races = {
            event.data["candidate"]: event.data["race"] for event in records.events(run) if event.kind == RACED
        }
        self._told: Counter[Known] = Counter()
        self._waiting: list[Job] = []

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def finished(self, timeout: float) -> list[Result]:
        waiting, self._waiting = self._waiting, []
        return [self._answer(job) for job in waiting]

    def close(self) -> None: ...

    def _answer(self, job: Job) -> Result:
        if job.race:
            return self._race(job)
        return self._profile(job) if job.profile_of else self._verdict(job)

    def _race(self, job: Job) -> Result:
        found = self._races.get(job.candidate, {"absent": "was not raced in the recorded run"})
        if "absent" in found:
            return _result(job, Kind.RACED, reason=found["absent"])
        return _result(job, Kind.RACED, race=found)

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
    _take_over(records, run, begun, means.store)
    rehearsed = [event.data for event in records.events(run.id) if event.kind == CAME] if in_order else None
    means = replace(means, rehearsed=rehearsed, seeder=means.proposer)
    return play(begun, Task.from_wire(wire), Plan.from_json(run.settings), means)


def _take_over(records: Records, run: Run, begun: Run, store: Store) -> None:
    """What other runs had left in the store: what they had judged is not judged again, and what their advice had been
    worth is known from the beginning.
    """
    known, genomes = list(_known_before(records, run)), list(_advice_before(records, run))
    outcomes = [outcome for name in _advice_names(run, genomes) for outcome in _outcomes_before(records, run, name)]
    if not (known or genomes or outcomes):
        return
    others = store.begin_run(
        task=run.task, wire=records.task(run.task) or {}, settings=run.settings, versions={}, machine={}
    )
    for judged in known:
        candidate = records.candidate(judged.candidate)
        assert candidate is not None
        store.keep_candidate(candidate, Birth(run=others.id, candidate=candidate.hash))
        store.keep_verdict(replace(judged, run=others.id))
    for genome in genomes:
        store.keep_genome(replace(genome, run=others.id))
    for outcome in outcomes:
        store.keep_outcome(replace(outcome, run=others.id))
    store.end_run(others.id, State.FINISHED, f"what run {begun.id} took over from others")


def _known_before(records: Records, run: Run) -> Iterator[Judged]:
    births = {birth.candidate: birth for birth in [*records.births(run.id)][::-1]}
    for birth in births.values():
        for judged in records.judged(birth.candidate, run.task):
            if judged.run != run.id and judged.noted < birth.noted:
                yield judged


def _advice_before(records: Records, run: Run) -> Iterator[Genome]:
    """What other runs had written for the same backend."""
    for genome in records.genomes(run.settings["backend"]):
        if genome.run != run.id and genome.noted < run.noted:
            yield genome


def _advice_names(run: Run, genomes: list[Genome]) -> list[str]:
    return [seed(run.settings["backend"]).hash, *(genome.hash for genome in genomes)]


def _outcomes_before(records: Records, run: Run, genome: str) -> Iterator[Outcome]:
    for outcome in records.outcomes(genome, run.settings["backend"]):
        if outcome.run != run.id and outcome.noted < run.noted:
            yield outcome
