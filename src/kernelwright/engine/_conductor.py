"""The run itself: asks, listens, has answers judged, learns; nobody waits for anybody's slowest.

One thread decides. Models are asked in threads of their own, and judging goes on wherever the fleet has it done. Every
reply and every verdict is in the store before it is used, and what was learned from it in the same transaction: killed
at any moment and begun again, a run goes on as if it had never stopped.
"""

from __future__ import annotations

import math
import random
import threading
from dataclasses import replace
from typing import Any

from kernelwright.archive import Archive, choice_from_json
from kernelwright.engine._asking import Answer, Asking
from kernelwright.engine._author import Author, Draft, Known
from kernelwright.engine._budget import exhausted, room_for
from kernelwright.engine._candidates import backend_of, read_answer
from kernelwright.engine._contests import Contests
from kernelwright.engine._docket import Docket
from kernelwright.engine._elsewhere import Elsewhere
from kernelwright.engine._finals import Finals, Winner
from kernelwright.engine._learning import Learning
from kernelwright.engine._listening import CAME, Came, Listening, Rehearsed
from kernelwright.engine._methods import Method
from kernelwright.engine._past import Past
from kernelwright.engine._patience import Patience
from kernelwright.engine._profiles import Profiles
from kernelwright.engine._purse import Purse
from kernelwright.engine._recovery import Recovery
from kernelwright.engine._seeding import Seeding
from kernelwright.engine._settings import RunError, Settings, Tell, UnwritableError
from kernelwright.engine._stop import Standing, reason_to_stop
from kernelwright.engine._teller import Teller
from kernelwright.engine._tuning import Finalist, Tuning, TuningBudget
from kernelwright.engine._verdicts import baseline_of, roof_share
from kernelwright.fleet import Fleet, Job, Kind, Result
from kernelwright.judge import source_hash
from kernelwright.propose import ExhaustedError, Proposer, ProposerError, Reply
from kernelwright.propose.builtin import CannotWriteError
from kernelwright.store import SEED, Birth, Candidate, Genome, Store
from kernelwright.tasks import Task

# So many candidates may wait for the judge for every lane but the first; more would be judged too late to learn from.
# With one lane everything goes one after the other, and a run can be repeated exactly.
WAITING_PER_LANE = 2
PATIENCE_SECONDS = 0.05
REWRITE = "rewrite"


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
        profile: bool = True,
        tuning: TuningBudget | None = None,
        rehearsed: list[dict[str, Any]] | None = None,
        seeder: Proposer | None = None,
        seeds: int = 0,
    ) -> None:
        """`stop`: set when the run is left, so that whoever waits for an answer stops waiting.

        `profile`: whether elites are profiled when they are chosen to be improved. `tuning`: what racing the parameters
        of the best may take. `rehearsed`: who came back when in the run that this one repeats. `seeder`: who writes the
        first kernels, `seeds` of them at most.
        """
        self._stop = stop or threading.Event()
        self._run, self._settings, self._store, self._task = run, settings, store, task
        self._method, self._author, self._fleet, self._tell = method, author, fleet, tell
        self._teller = Teller(tell, settings.budget, over=baseline_of(task))
        self._past = Past(store, run, task, settings.device)
        self._asking = Asking(store, run, proposer, seeder=seeder, task=task, lanes=settings.lanes)
        self._seeding = Seeding(settings, self._past, most=seeds if seeder else 0)
        self._docket = Docket(fleet, task, settings)
        self._elsewhere = Elsewhere(fleet, self._docket, self._past, settings.devices[1:])
        self._learning = Learning(store, run, author, self._teller, task)
        self._contests = Contests(self._learning, self._docket, self._past, self._teller)
        self._tuning = Tuning(fleet, self._docket, self._past, task, tuning, settings.seed)
        self._profiles = Profiles(fleet, task, settings, self._past, on=profile, see=author.see)
        self._listening = (
            Listening(self._asking, self._docket, fleet)
            if rehearsed is None
            else Rehearsed(rehearsed, self._asking, self._docket, fleet)
        )
        self._purse = Purse(store.spent(run))
        self._asked = 0
        self._dry = ""
        self._patience = Patience()

    @property
    def archive(self) -> Archive:
        return self._learning.archive

    def recall(self, candidate: str) -> Known:
        """A judged candidate of this run."""
        return replace(self._past.recall(candidate), profile=self._profiles.paragraph(candidate))

    # The loop

    def play(self) -> str:
        """Until there is a reason to stop and nothing is under way any more; the reason."""
        with self._asking.threads(self._stop):
            self._recover()
            reason = self._search()
            self._tune(reason)
            return reason

    def _search(self) -> str:
        while True:
            reason = self._reason()
            waits = reason is None and self._profiles.awaited
            asked = reason is None and not waits and self._ask_one()
            if not self._asking and not self._docket and not waits and not self._elsewhere:
                return reason or "there is nothing more to do"
            self._listen(0.0 if asked else PATIENCE_SECONDS)

    def measure_best(self, baselines: tuple[str, ...]) -> Winner | tuple[str, ...]:
        """After the play: who holds when it is measured once more; or what is to be said, where nobody does."""
        finals = Finals(self._fleet, self._docket, self._past, baselines)
        found = finals.play(self.archive, self._teller.final)
        self._teller.stands(self.archive, self._store.spent(self._run), asking=0, judging=0)
        return found

    def _recover(self) -> None:
        """What was learned is learned again in the same order; what was under way goes on."""
        recovery = Recovery(self._store, self._run, self._past)
        self._learning.remember_all()
        self._contests.recover()
        self._profiles.recover()
        self._elsewhere.recover(self._settings.device)
        self._asked = recovery.last_request() + (self._tuning.reason is not None)
        self._seeding.recover(*recovery.seeds())
        asked_again = recovery.ask_again(self._asking)
        for draft, reply in recovery.unused(asked_again):
            self._answered(draft, reply)
        for birth in list(self._past.unjudged()):
            self._judge(birth.candidate, self._past.source(birth.candidate))

    def _reason(self) -> str | None:
        spent = self._purse.spent
        self._teller.stands(self.archive, spent, asking=len(self._asking), judging=len(self._docket))
        return (
            self._tuning.reason
            or self._dry
            or exhausted(self._settings.budget, spent)
            or reason_to_stop(self._settings.rules, self._standing())
        )

    def _standing(self) -> Standing:
        best = self.archive.best
        since = self._seeding.after(self._learning.since_best, self.archive.results)
        if best is None:
            return Standing(evaluations_since_best=since)
        return Standing(
            best_low=math.exp(best.low),
            best_roof_share=roof_share(self.recall(best.candidate).verdict),
            evaluations_since_best=since,
        )

    def _listen(self, patience: float) -> None:
        for came in self._listening.hear(patience, self._asked):
            self._take_up(came)

    def _take_up(self, came: Came) -> None:
        if isinstance(came, Result):
            self._heard(came)
            return
        draft, answer = came
        if isinstance(answer, Reply):
            self._purse.paid(answer)
        self._answered(draft, answer)

    # Tuning

    def _tune(self, reason: str) -> None:
        """After the search: what the best declare to be open is settled."""
        resumed = self._tuning.reason is not None
        elites = self._tuning.begin(self.archive, reason)
        # What comes back now comes after one more request, so to say: not before the search has ended.
        self._asked += not resumed
        for elite in elites:
            self._tuning.start(elite)
            self._hear_all()
            for texts in (self._tuning.finalists, self._tuning.dispatched):
                for finalist in texts(elite):
                    self._enter_tuned(finalist)
                self._hear_all()

    def _hear_all(self) -> None:
        """Until nobody is awaited any more, and not a word longer: what comes then is answered to the next step."""
        while self._awaits_anybody():
            for came in self._listening.hear(PATIENCE_SECONDS, self._asked):
                self._take_up(came)
                if not self._awaits_anybody():
                    break

    def _awaits_anybody(self) -> bool:
        return self._tuning.awaited or bool(self._docket) or bool(self._elsewhere)

    def _enter_tuned(self, finalist: Finalist) -> None:
        name, came_of = finalist.candidate, finalist.came_of
        if not any(choice_from_json(birth.direction) == came_of for birth in self._past.births(name)):
            birth = Birth(run=self._run, candidate=name, parent=came_of.parent, direction=came_of.to_json())
            self._enter(finalist.source, birth)

    # Asking

    def _ask_one(self) -> bool:
        """Whether there was room for one more; one at a time, since answers may be waiting meanwhile."""
        if not self._has_room():
            return False
        self._asked += 1
        draft = self._next_draft(str(self._asked))
        self._asking.ask(draft)
        self._teller.asked(draft.request, draft.parent)
        self._purse.asked()
        self._profiles.want(draft.came_of)
        return True

    def _is_seeding(self) -> bool:
        """Until all seeds are judged, and the contests among them held: a model then builds on what came of it."""
        if not self._seeding.over and not self._seeding.lasts(self._purse.spent):
            if self._asking or self._docket:
                return True
            self._note("seeded", **self._seeding.ended(self._purse.spent, self.archive))
        return not self._seeding.over

    def _has_room(self) -> bool:
        if self._is_seeding():
            return self._seeding.has_room(self._purse.spent, self._asking, self._docket)
        lanes = self._settings.lanes
        if len(self._asking) >= lanes or len(self._docket) > WAITING_PER_LANE * (lanes - 1):
            return False
        return room_for(self._settings.budget, self._purse.spent, len(self._asking) + self._docket.new)

    def _next_draft(self, name: str) -> Draft:
        if not self._seeding.over:
            return self._seeding.draft(name, self.archive)
        rng = random.Random(f"{self._settings.seed} {name}")
        genome = self._author.due()
        if genome is not None:
            return Draft(self._author.rewriting(name, genome), genome, None)
        came_of = self._method(self.archive, rng, self._asking.pending, self._profiles.bottlenecks)
        return self._author.draft(name, came_of, self.archive, rng)

    # Answers

    def _answered(self, draft: Draft, answer: Answer) -> None:
        self._past.note(CAME, {"request": draft.request.id, "asked": self._asked})
        if isinstance(answer, ProposerError):
            self._unanswered(draft, answer)
            return
        self._teller.answered(draft.request, answer)
        if draft.request.kind == SEED:
            self._seeding.answered()
        if draft.request.kind == REWRITE:
            self._take_advice(draft, answer.text)
        else:
            self._take(draft, answer.text)

    def _unanswered(self, draft: Draft, error: ProposerError) -> None:
        """Who has nothing more to say ends the asking; anything else, the run: nobody pays for silence."""
        if draft.request.kind == SEED:
            self._unseeded(draft, error)
            return
        self._note("unanswered", request=draft.request.id, why=str(error))
        if isinstance(error, ExhaustedError):
            self._store.drop_request(self._run, draft.request.id, error.what)
            self._dry = error.what
        else:
            ending = UnwritableError if isinstance(error, CannotWriteError) else RunError
            raise ending(error.what, error.fix)

    def _unseeded(self, draft: Draft, error: ProposerError) -> None:
        """A task that whoever writes the seeds cannot write is no reason not to search: a model is asked instead."""
        with self._store.together():
            self._store.drop_request(self._run, draft.request.id, error.what)
            self._note("unseeded", request=draft.request.id, why=error.what)
        self._seeding.failed()

    def _take(self, draft: Draft, text: str) -> None:
        answer = read_answer(self._task, text, draft.request.parent)
        if answer.source is None:
            with self._store.together():
                self._store.drop_request(self._run, draft.request.id, answer.problem)
                self._note("unusable", request=draft.request.id, why=answer.problem)
            self._lose_patience(answer.problem)
            return
        name = source_hash(answer.source)
        self._enter(answer.source, self._birth(name, draft))
        if len(self._past.births(name)) > 1:
            self._lose_patience("the answer is a kernel of this run")
        else:
            self._patience.rewarded()

    def _enter(self, source: str, birth: Birth) -> None:
        """A candidate with its origin: kept, and judged where nobody has."""
        name = birth.candidate
        verdict = self._past.verdict(name)
        with self._store.together():
            self._store.keep_candidate(
                Candidate(hash=name, source=source, backend=backend_of(self._task, source)), birth
            )
            if verdict is not None:
                self._learning.learn(name, source, verdict, self._past.births(name)[-1:])
        if verdict is None:
            self._judge(name, source)
        else:
            self._contests.call()

    def _lose_patience(self, problem: str) -> None:
        """Who has nothing new to say is not asked for ever: the run ends with what it has."""
        if not self._seeding.over:
            return  # seeds are counted as they are asked for
        told = self._patience.tried(problem)
        if told and self.archive.best is None and not len(self._docket):
            fix = "look at the model and its limits (--set model.max_tokens=...), or name another with --model"
            raise RunError(told, fix)
        self._dry = told or self._dry

    def _birth(self, candidate: str, draft: Draft) -> Birth:
        return Birth(
            run=self._run,
            candidate=candidate,
            request=draft.request.id,
            parent=draft.parent,
            genome=draft.genome,
            direction=draft.came_of.to_json() if draft.came_of else None,
        )

    def _take_advice(self, draft: Draft, text: str) -> None:
        parent = draft.genome
        assert parent is not None
        found, refused = self._author.rewritten(parent, text)
        with self._store.together():
            if found is not None:
                kept = Genome(
                    hash=found.hash, backend=found.backend, regions=found.regions, parent=parent, run=self._run
                )
                self._store.keep_genome(kept)
            self._store.drop_request(self._run, draft.request.id, "was about the advice")
            self._note("advice", genome=found.hash if found else None, parent=parent, refused=list(refused))

    # Verdicts

    def _judge(self, candidate: str, source: str) -> None:
        self._docket.submit(self._docket.job(candidate, source))

    def _heard(self, result: Result) -> None:
        if result.kind is Kind.RETRIED:
            self._note("fault", candidate=result.candidate, why=result.reason)
            return
        if self._elsewhere.take(result):
            self._note_result(result)
            return
        if self._profiles.take(result):
            self._note_result(result)
            return
        raced = self._tuning.take(result)
        if raced is not None:
            self._note_result(result)
            self._teller.raced(raced)
            return
        if result.kind is Kind.FOREIGN:
            if result.verdict is not None:
                self._past.keep(result, used=False)
            return
        job = self._docket.take(result)
        if job is None:
            return  # told twice
        if result.kind is Kind.INFRA:
            self._note("fault", candidate=job.candidate, why=result.reason)
            self._docket.retry(job, result.reason)
        else:
            self._learn_from(job, result)

    def _learn_from(self, job: Job, result: Result) -> None:
        first, births = not self._past.is_judged(job.candidate), self._past.births(job.candidate)
        with self._store.together():
            judged = self._past.keep(result)
            self._note_result(result)
            if job.measurement > 1:
                self._contests.measured(job.candidate, judged.verdict)
            else:
                self._learning.learn(job.candidate, job.source, judged.verdict, births)
        self._purse.judged(judged.seconds, first=first, seed=any(birth.is_seed for birth in births))
        if first:
            self._elsewhere.want(judged)
        self._contests.call()

    def _note_result(self, result: Result) -> None:
        if result.kind is not Kind.FOREIGN:
            told = {"candidate": result.candidate, "profile": result.kind is Kind.PROFILED, "asked": self._asked}
            told |= {"race": True} if result.kind is Kind.RACED else {}
            self._past.note(CAME, told | ({"device": result.device} if result.device else {}))

    def _note(self, kind: str, **data: Any) -> None:
        self._past.note(kind, data)
        self._tell(kind, data)
