"""A run as its records tell it: read once, in order, with nothing kept that the page does not show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwright.archive import Archive, Entry
from kernelwright.report.page._attempt import EAGER, EVALUATIONS, ORIGINAL, Attempt, Register, Ruling
from kernelwright.report.page._html import shortened
from kernelwright.report.page._words import Speed
from kernelwright.store import Answered, Event, Genome, Judged, Records, Run, Sitting, Spent, State

LONGEST_NAME = 200


@dataclass(frozen=True)
class Best:
    """The fastest elite after so many evaluations, as it was then known."""

    evaluations: int
    candidate: str
    speed: Speed


@dataclass(frozen=True)
class Charge:
    """A reply that was paid for. `at`: seconds of work on the run before it came."""

    at: float
    model: str
    kind: str
    tokens_in: int
    tokens_out: int
    dollars: float | None
    seconds: float


@dataclass(frozen=True)
class Hearing:
    """One measurement: when it came, where it was made, how long each stage took and all of it."""

    at: float
    where: str
    stages: Mapping[str, float]
    seconds: float


@dataclass(frozen=True)
class Text:
    """A kernel's source."""

    candidate: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Story:
    """What a page tells of a run.

    Attributes:
        machine: The one that judged, as its verdicts describe it; where they do not, the one that searched.
        state: As the store has it, or `interrupted`.
        attempts: Every candidate that was judged, in order, by its hash.
        waiting: How many candidates were born and have no verdict yet.
        best: The kernel that the run is known for, `measured_again` at its end or as the search knew it.
        winner: Its text; `before` the text that it was made from.
        gains: By advice: what each kernel written with it in this run gained over its parent; None: rejected.
    """

    run: Run
    task: Mapping[str, Any]
    machine: Mapping[str, Any]
    state: str
    spent: Spent
    attempts: Mapping[str, Attempt]
    archive: Archive
    progress: Sequence[Best]
    waiting: int
    charges: Sequence[Charge]
    hearings: Sequence[Hearing]
    notes: Sequence[Event]
    genomes: Mapping[str, Genome]
    gains: Mapping[str, Sequence[float | None]]
    best: Entry | None = None
    winner: Text | None = None
    before: Text | None = None
    speeds: Mapping[str, Speed] = field(default_factory=dict)
    measured_again: bool = False

    @property
    def baseline(self) -> str:
        """What speedups are told over."""
        return ORIGINAL if self.task.get("project") else EAGER

    @property
    def task_name(self) -> str:
        return shortened(str(self.task.get("name") or self.run.task), LONGEST_NAME)

    def lineage(self, candidate: str) -> list[Attempt]:
        """From the draft that it goes back to, or as far as is known, to the candidate."""
        line: list[Attempt] = []
        seen: set[str] = set()
        now: str | None = candidate
        while now is not None and now in self.attempts and now not in seen:
            seen.add(now)
            line.append(self.attempts[now])
            now = line[-1].parent
        return line[::-1]


def read(records: Records, name: str) -> Story:
    """The story of the run of this id, or of the only one whose id begins so."""
    run = records.run(name)
    worked, register = _Clock(records.sittings(run.id)), Register(records, run)
    hearings = [_heard(judged, worked, register) for judged in records.verdicts(run.id) if judged.used]
    attempts, archive, progress = _replayed(records, run, register)
    backend = str(run.settings.get("backend", ""))
    story = Story(
        run=run,
        task=records.task(run.task) or {},
        machine=register.machine or run.machine,
        state=_state(records, run),
        spent=records.spent(run.id),
        attempts=attempts,
        archive=archive,
        progress=progress,
        waiting=sum(1 for _ in records.unjudged(run.id)),
        charges=_charges(records, run, worked),
        hearings=hearings,
        notes=list(records.events(run.id)),
        genomes={genome.hash: genome for genome in records.genomes(backend)},
        gains=_gains(records, run, backend, attempts),
    )
    return _with_winner(records, story)


def _state(records: Records, run: Run) -> str:
    return "interrupted" if run.state is State.RUNNING and records.writer(run.id) is None else str(run.state)


def _heard(judged: Judged, worked: _Clock, register: Register) -> Hearing:
    register.hear(judged)
    stages = {name: float(spent) for name, spent in judged.verdict.get("seconds", {}).items() if name != "total"}
    return Hearing(worked(judged.noted), judged.device, stages, judged.seconds)


def _replayed(records: Records, run: Run, register: Register) -> tuple[dict[str, Attempt], Archive, list[Best]]:
    """What the archive was told, told again; and who was the best after each evaluation."""
    attempts: dict[str, Attempt] = {}
    archive, progress = Archive(), list[Best]()
    for move in records.moves(run.id):
        archive.replay(move.data)
        if move.kind in EVALUATIONS and move.candidate not in attempts:
            attempts[move.candidate] = register.attempt(len(attempts) + 1, move.data)
        if archive.best is None:
            continue
        now = Best(len(attempts), archive.best.candidate, Speed.of(archive.best))
        if progress and progress[-1].evaluations == now.evaluations:
            progress.pop()
        progress.append(now)
    return attempts, archive, progress


def _charges(records: Records, run: Run, worked: _Clock) -> list[Charge]:
    kinds = {asked.id: asked.kind for asked in records.requests(run.id)}
    return [_charge(reply, kinds[reply.request], worked) for reply in records.replies(run.id)]


def _charge(reply: Answered, kind: str, worked: _Clock) -> Charge:
    at = worked(reply.noted)
    return Charge(
        at, shortened(reply.model, LONGEST_NAME), kind, reply.tokens_in, reply.tokens_out, reply.dollars, reply.seconds
    )


def _gains(records: Records, run: Run, backend: str, attempts: Mapping[str, Attempt]) -> dict[str, list[float | None]]:
    """Advice that was only used for drafts has no gains, and is there all the same."""
    used = dict.fromkeys(attempt.genome for attempt in attempts.values() if attempt.genome)
    return {name: [one.gain for one in records.outcomes(name, backend) if one.run == run.id] for name in used}


def _with_winner(records: Records, story: Story) -> Story:
    told = records.final(story.run.id)
    best = _best(story.archive, told)
    kept = records.candidate(best.candidate) if best else None
    if best is None or kept is None:
        return story
    attempt = story.attempts[best.candidate]
    before = records.candidate(attempt.parent) if attempt.parent else None
    return replace(
        story,
        best=best,
        winner=Text(best.candidate, kept.source),
        before=Text(before.hash, before.source) if before else None,
        speeds=_speeds(records, story.run, best),
        measured_again=told is not None,
    )


def _best(archive: Archive, told: Mapping[str, Any] | None) -> Entry | None:
    """As it was measured once more at the end; where a run has not come to its end, the best so far."""
    if told is None:
        return archive.best
    return Entry.from_json(told["entry"]) if told["candidate"] else None


def _speeds(records: Records, run: Run, best: Entry) -> Mapping[str, Speed]:
    """Over every baseline, by the measurement that this is."""
    rulings = [Ruling.of(judged.verdict) for judged in records.judged(best.candidate, run.task)]
    timed = [(ruling.speed, ruling.speeds) for ruling in rulings if ruling.speed]
    nearest = min(timed, key=lambda one: abs(math.log(one[0].ratio) - best.log_speedup), default=None)
    return nearest[1] if nearest else {}


class _Clock:
    """Seconds of work on a run up to a moment; the time between sittings is nobody's."""

    def __init__(self, sittings: Sequence[Sitting]) -> None:
        self._sittings = sittings

    def __call__(self, moment: float) -> float:
        return sum(max(0.0, min(moment, each.seen) - each.noted) for each in self._sittings)
