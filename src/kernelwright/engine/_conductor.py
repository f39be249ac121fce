"""The run itself: asks, listens, has answers judged, learns; nobody waits for anybody's slowest.

One thread decides. Models are asked in threads of their own, and judging goes on wherever the fleet has it done. Every
reply and every verdict is in the store before it is used, and what was learned from it in the same transaction: killed
at any moment and begun again, a run goes on as if it had never stopped.
"""

from __future__ import annotations

import math
import queue
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from kernelwright import backends
from kernelwright.archive import Archive, Choice, Entry, Repair, choice_from_json
from kernelwright.engine._author import Author, Draft, Known
from kernelwright.engine._budget import Budget, exhausted, room_for
from kernelwright.engine._methods import Method
from kernelwright.engine._stop import Standing, StopRules, reason_to_stop
from kernelwright.engine._teller import Tell, Teller
from kernelwright.engine._verdicts import entry_of, promise_of, roof_share
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.judge import source_hash
from kernelwright.propose import ExhaustedError, Proposer, ProposerError, Reply, Request, parse
from kernelwright.store import Answered, Asked, Birth, Candidate, Event, Genome, Judged, Move, Outcome, Store
from kernelwright.tasks import Task

LANES = 4
# So many candidates may wait for the judge for every lane but the first; more would be judged too late to learn from.
# With one lane everything goes one after the other, and a run can be repeated exactly.
WAITING_PER_LANE = 2
PATIENCE_SECONDS = 0.05
MOST_FAULTS = 3
REWRITE = "rewrite"
# What is told to an archive about a candidate that was judged for the first time.
EVALUATIONS = ("offer", "failed")


class RunError(Exception):
    """The run cannot go on: what happened, and what to do next."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run is made. `lanes`: how many requests may be under way at once."""

    backend: str
    budget: Budget
    rules: StopRules = field(default_factory=StopRules)
    lanes: int = LANES
    seed: int = 0
    baselines: tuple[str, ...] = ("eager",)
    limits: dict[str, float] = field(default_factory=dict)


@dataclass
class Contest:
    """A challenger and the elite it was measured again with; what has come back of the two."""

    elite: Entry
    challenger: Entry
    again: dict[str, dict[str, Any]] = field(default_factory=dict)


class Conductor:
    """One run, from its first request or from where it was left, until there is a reason to end it."""

    def __init__(
        self,
        *,
        run: str,
        task: Task,
        settings: Settings,
        store: Store,
        method: Method,
        author: Author,
        proposer: Proposer,
        fleet: Fleet,
        tell: Tell = lambda kind, data: None,
        stop: threading.Event | None = None,
    ) -> None:
        """`stop`: set when the run is left, so that whoever waits for an answer stops waiting."""
        self._stop = stop or threading.Event()
        self._run, self._task, self._settings, self._store = run, task, settings, store
        self._method, self._author, self._proposer, self._fleet, self._tell = method, author, proposer, fleet, tell
        self.archive = Archive()
        self._teller = Teller(tell, settings.budget)
        self._inbox: queue.SimpleQueue[tuple[Request, Reply | ProposerError]] = queue.SimpleQueue()
        self._asking: dict[str, Draft | str] = {}
        self._judging: dict[str, Job] = {}
        self._contests: dict[str, Contest] = {}
        self._known: dict[str, Known] = {}
        self._asked = 0
        self._faults = 0
        self._since_best = 0
        self._dry = ""

    # The loop

    def play(self) -> str:
        """Until there is a reason to stop and nothing is under way any more; the reason."""
        with ThreadPoolExecutor(self._settings.lanes, thread_name_prefix="asking") as pool:
            try:
                return self._play(pool)
            except BaseException:
                self._stop.set()  # or those who wait for an answer would be waited for
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _play(self, pool: ThreadPoolExecutor) -> str:
        self._recover(pool)
        while True:
            reason = self._reason()
            if reason is None:
                self._ask_for_more(pool)
            if not self._asking and not self._judging:
                return reason or "there is nothing more to do"
            self._listen()

    def _reason(self) -> str | None:
        spent = self._store.spent(self._run)
        self._teller.stands(self.archive, spent, asking=len(self._asking), judging=len(self._judging))
        return (
            self._dry
            or exhausted(self._settings.budget, spent)
            or reason_to_stop(self._settings.rules, self._standing())
        )

    def _standing(self) -> Standing:
        best = self.archive.best
        if best is None:
            return Standing(evaluations_since_best=self._since_best)
        return Standing(
            best_low=math.exp(best.low),
            best_roof_share=roof_share(self.recall(best.candidate).verdict),
            evaluations_since_best=self._since_best,
        )

    def _listen(self) -> None:
        """Whatever came back meanwhile; waits a moment if nothing has."""
        for result in self._fleet.finished(PATIENCE_SECONDS if self._judging else 0.0):
            self._heard(result)
        wait = bool(self._asking) and not self._judging
        try:
            while True:
                self._answered(*self._inbox.get(timeout=PATIENCE_SECONDS if wait else 0.0))
                wait = False
        except queue.Empty:
            pass

    # Asking

    def _ask_for_more(self, pool: ThreadPoolExecutor) -> None:
        while self._has_room():
            self._asked += 1
            self._ask(pool, self._next_draft(str(self._asked)))

    def _has_room(self) -> bool:
        lanes = self._settings.lanes
        if len(self._asking) >= lanes or len(self._judging) > WAITING_PER_LANE * (lanes - 1):
            return False
        new = sum(job.measurement == 1 for job in self._judging.values())
        return room_for(self._settings.budget, self._store.spent(self._run), len(self._asking) + new)

    def _next_draft(self, name: str) -> Draft | tuple[Request, str]:
        rng = random.Random(f"{self._settings.seed} {name}")
        genome = self._author.due()
        if genome is not None:
            return self._author.rewriting(name, genome), genome
        pending = [draft.came_of for draft in self._asking.values() if isinstance(draft, Draft) and draft.came_of]
        return self._author.draft(name, self._method(self.archive, rng, pending), self.archive, rng)

    def _ask(self, pool: ThreadPoolExecutor, draft: Draft | tuple[Request, str]) -> None:
        request, genome = (draft.request, draft.genome) if isinstance(draft, Draft) else draft
        came_of = draft.came_of if isinstance(draft, Draft) else None
        asked = Asked(
            run=self._run,
            id=request.id,
            kind=request.kind,
            backend=request.backend,
            prompt=request.prompt,
            parent=came_of.parent if came_of else None,
            genome=genome,
            direction=came_of.to_json() if came_of else None,
        )
        self._store.note_request(asked)
        self._teller.asked(request, asked.parent)
        self._asking[request.id] = draft if isinstance(draft, Draft) else genome
        pool.submit(self._propose, request)

    def _propose(self, request: Request) -> None:
        """In a thread of its own. What was paid for is kept before anybody hears of it."""
        try:
            reply = self._proposer.propose(request)
            self._store.keep_reply(_kept(self._run, request, reply))
            self._inbox.put((request, reply))
        except ProposerError as error:
            self._inbox.put((request, error))
        except Exception as error:
            self._inbox.put((request, ProposerError(f"{type(error).__name__}: {error}")))

    # Answers

    def _answered(self, request: Request, reply: Reply | ProposerError) -> None:
        draft = self._asking.pop(request.id)
        if isinstance(reply, ProposerError):
            self._unanswered(request, reply)
            return
        self._teller.answered(request, reply)
        if isinstance(draft, Draft):
            self._take(draft, reply.text)
        else:
            self._take_advice(request, draft, reply.text)

    def _unanswered(self, request: Request, error: ProposerError) -> None:
        """Who has nothing more to say ends the asking; anything else, the run: nobody pays for silence."""
        self._note("unanswered", request=request.id, why=str(error))
        if isinstance(error, ExhaustedError):
            self._store.drop_request(self._run, request.id, error.what)
            self._dry = error.what
        else:
            raise RunError(error.what, error.fix)

    def _take(self, draft: Draft, text: str) -> None:
        request = draft.request
        answer = parse(text, request.parent)
        if answer.source is None:
            with self._store.together():
                self._store.drop_request(self._run, request.id, answer.problem)
                self._note("unusable", request=request.id, why=answer.problem)
            return
        name = source_hash(answer.source)
        backend = backends.detect(answer.source)
        verdict = self._verdict_of(name)
        with self._store.together():
            self._store.keep_candidate(
                Candidate(hash=name, source=answer.source, backend=backend), self._birth(name, draft)
            )
            if verdict is not None:
                self._learn(name, answer.source, verdict, self._births_of(name)[-1:])
        if verdict is None:
            self._submit(name, answer.source)

    def _birth(self, candidate: str, draft: Draft) -> Birth:
        came_of = draft.came_of
        return Birth(
            run=self._run,
            candidate=candidate,
            request=draft.request.id,
            parent=came_of.parent if came_of else None,
            genome=draft.genome,
            direction=came_of.to_json() if came_of else None,
        )

    def _births_of(self, candidate: str) -> list[Birth]:
        return list(self._store.births(self._run, candidate))

    def _take_advice(self, request: Request, genome: str, text: str) -> None:
        found, refused = self._author.rewritten(genome, text)
        with self._store.together():
            if found is not None:
                kept = Genome(
                    hash=found.hash, backend=found.backend, regions=found.regions, parent=genome, run=self._run
                )
                self._store.keep_genome(kept)
            self._store.drop_request(self._run, request.id, "was about the advice")
            self._note("advice", genome=found.hash if found else None, parent=genome, refused=list(refused))

    # Judging

    def _submit(self, candidate: str, source: str, measurement: int = 1) -> None:
        settings = self._settings
        job = Job(
            candidate=candidate,
            source=source,
            task=self._task.to_wire(),
            baselines=settings.baselines,
            limits=settings.limits,
            measurement=measurement,
        )
        self._judging[job.name] = job
        self._fleet.submit(job)

    def _heard(self, result: Result) -> None:
        if result.kind is Kind.FOREIGN:
            self._keep(result, used=False)
            return
        job = self._judging.pop(result.job, None)
        if job is None:
            return  # told twice
        if result.kind is Kind.REFUSED:
            raise RunError(f"the task cannot be judged: {result.reason}", "mend the task, then resume the run")
        if result.kind is Kind.INFRA:
            self._faulted(job, result)
        elif job.measurement > 1:
            self._measured_again(job.candidate, result)
        else:
            self._judged(job.candidate, result)

    def _faulted(self, job: Job, result: Result) -> None:
        """Nothing is learned from it; the candidate is judged again, unless machines go on failing."""
        self._faults += 1
        self._note("fault", candidate=job.candidate, why=result.reason)
        if self._faults > MOST_FAULTS:
            raise RunError(f"the judge failed {self._faults} times: {result.reason}", "mend the machine, then resume")
        self._submit(job.candidate, job.source, job.measurement)

    def _judged(self, candidate: str, result: Result) -> None:
        verdict = _verdict(result)
        with self._store.together():
            self._keep(result)
            self._learn(candidate, self._source(candidate), verdict, self._births_of(candidate))
        self._call_contests()

    def _keep(self, result: Result, *, used: bool = True) -> None:
        judged = Judged(
            run=self._run,
            job=result.job,
            candidate=result.candidate,
            task=self._task.hash,
            device=result.where,
            judge=result.judge,
            verdict=_verdict(result),
            used=used,
        )
        self._store.keep_verdict(judged)

    def _verdict_of(self, candidate: str) -> dict[str, Any] | None:
        """What is known of this text, whoever wrote it first and whichever run paid for it."""
        for judged in self._store.judged(candidate, self._task.hash):
            return judged.verdict
        return None

    def _source(self, candidate: str) -> str:
        found = self._store.candidate(candidate)
        assert found is not None
        return found.source

    # Learning

    def _learn(self, candidate: str, source: str, verdict: dict[str, Any], births: list[Birth]) -> None:
        cell = backends.describe(source).cell
        entry = entry_of(candidate, cell, verdict)
        for birth in births:
            came_of = choice_from_json(birth.direction)
            self._known.setdefault(candidate, _known(source, verdict, cell, came_of))
            told = {"came_of": birth.direction}
            if entry is not None:
                self._move("offer", candidate, entry=entry.to_json(), **told)
            else:
                self._move("failed", candidate, candidate=candidate, promise=promise_of(verdict), **told)
            self._credit(birth, candidate, entry, came_of)
        self._teller.judged(self.archive.results, candidate, cell, verdict, entry)

    def _credit(self, birth: Birth, candidate: str, entry: Entry | None, came_of: Choice | Repair | None) -> None:
        """The advice that it was written with has gained so much; a draft has no parent to gain over."""
        asked = came_of.asked if isinstance(came_of, Repair) else came_of
        if birth.genome is None or asked is None:
            return
        gain = entry.log_speedup - asked.log_speedup if entry else None
        self._author.learn(birth.genome, candidate, gain)
        outcome = Outcome(
            run=self._run, genome=birth.genome, backend=self._settings.backend, candidate=candidate, gain=gain
        )
        self._store.keep_outcome(outcome)

    def _move(self, kind: str, about: str, **data: Any) -> None:
        """Into the store and then into the archive, by the same words."""
        event = {"event": kind, **data}
        self._store.note_move(Move(run=self._run, kind=kind, candidate=about, data=event))
        self._remember(event)

    def _remember(self, event: dict[str, Any]) -> None:
        """In the archive; a measurement made again is no further evaluation."""
        before = self.archive.best
        self.archive.replay(event)
        self._since_best += event["event"] in EVALUATIONS
        best = self.archive.best
        if best is not None and (before is None or best.candidate != before.candidate):
            self._since_best = 0

    # Contests

    def _call_contests(self) -> None:
        """Challengers and the elites of their cells are measured again, one cell's pair at a time."""
        cells = {contest.elite.cell for contest in self._contests.values()}
        for challenger in self.archive.contests:
            if challenger.candidate not in self._contests and challenger.cell not in cells:
                cells.add(challenger.cell)
                self._call(Contest(self.archive.elites[challenger.cell], challenger))

    def _call(self, contest: Contest) -> None:
        self._contests[contest.challenger.candidate] = contest
        for entry in (contest.elite, contest.challenger):
            self._submit(entry.candidate, self._source(entry.candidate), self._next_measurement(entry.candidate))

    def _next_measurement(self, candidate: str) -> int:
        return 1 + sum(1 for _ in self._store.judged(candidate, self._task.hash))

    def _measured_again(self, candidate: str, result: Result) -> None:
        contest = next(
            one for one in self._contests.values() if candidate in (one.elite.candidate, one.challenger.candidate)
        )
        contest.again[candidate] = _verdict(result)
        with self._store.together():
            self._keep(result)
            if len(contest.again) == 2:
                self._settle(contest)
        self._call_contests()

    def _settle(self, contest: Contest) -> None:
        del self._contests[contest.challenger.candidate]
        elite, challenger = (
            entry_of(entry.candidate, entry.cell, contest.again[entry.candidate])
            for entry in (contest.elite, contest.challenger)
        )
        name = contest.challenger.candidate
        if elite is None or challenger is None:  # whoever fails when measured again, the challenger has not won
            self._move("failed", name, candidate=name, promise=None, came_of=None)
            return
        told = {"elite_again": elite.to_json(), "challenger_again": challenger.to_json()}
        self._move("confirmed", name, cell=list(elite.cell), challenger=name, **told)
        self._teller.settled(elite, challenger, self.archive.elites[elite.cell].candidate == name)

    # Coming back

    def _recover(self, pool: ThreadPoolExecutor) -> None:
        """What was learned is learned again in the same order; what was under way goes on."""
        for move in self._store.moves(self._run):
            self._remember(move.data)
        for asked in self._store.requests(self._run):
            self._asked = max(self._asked, int(asked.id))
        for asked in list(self._store.unanswered(self._run)):
            self._asking[asked.id] = self._drafted(asked)
            pool.submit(self._propose, _request(asked, self._parent_source(asked)))
        for asked in list(self._store.unused(self._run)):
            self._asking[asked.id] = self._drafted(asked)
            reply = next(iter(self._store.replies(self._run, asked.id)))
            self._answered(_request(asked, self._parent_source(asked)), _reply(reply))
        for birth in list(self._store.unjudged(self._run)):
            self._submit(birth.candidate, self._source(birth.candidate))
        self._call_contests()

    def _drafted(self, asked: Asked) -> Draft | str:
        assert asked.genome is not None
        if asked.kind == REWRITE:
            return asked.genome
        return Draft(_request(asked, self._parent_source(asked)), asked.genome, choice_from_json(asked.direction))

    def _parent_source(self, asked: Asked) -> str | None:
        return self._source(asked.parent) if asked.parent else None

    def recall(self, candidate: str) -> Known:
        """A judged candidate of this run."""
        if candidate not in self._known:
            source, verdict = self._source(candidate), self._verdict_of(candidate)
            assert verdict is not None
            birth = self._births_of(candidate)[0]
            came_of = choice_from_json(birth.direction)
            self._known[candidate] = _known(source, verdict, backends.describe(source).cell, came_of)
        return self._known[candidate]

    def _note(self, kind: str, **data: Any) -> None:
        self._store.note_event(Event(run=self._run, kind=kind, data=data))
        self._tell(kind, data)


def _verdict(result: Result) -> dict[str, Any]:
    assert result.verdict is not None
    return result.verdict


def _known(source: str, verdict: dict[str, Any], cell: Any, came_of: Choice | Repair | None) -> Known:
    return Known(
        source, verdict, cell, came_of.parent if came_of else None, came_of.why if came_of else "a first draft"
    )


def _kept(run: str, request: Request, reply: Reply) -> Answered:
    return Answered(
        run=run,
        request=request.id,
        text=reply.text,
        model=reply.model,
        tokens_in=reply.tokens_in or 0,
        tokens_out=reply.tokens_out or 0,
        dollars=reply.dollars,
        seconds=reply.seconds,
        finish=reply.finish,
    )


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


def _request(asked: Asked, parent: str | None) -> Request:
    kind: Any = asked.kind
    return Request(id=asked.id, prompt=asked.prompt, kind=kind, backend=asked.backend, parent=parent)
