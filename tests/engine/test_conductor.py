"""A run: what it asks, keeps, learns, and how it goes on after an interruption."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.engine._asking import Asking
from kernelwright.engine._author import Author
from kernelwright.engine._budget import Budget
from kernelwright.engine._conductor import Conductor
from kernelwright.engine._listening import CAME
from kernelwright.engine._methods import method
from kernelwright.engine._settings import RunError, Settings
from kernelwright.engine._stop import StopRules
from kernelwright.prompts import Hardware
from kernelwright.propose import ExhaustedError, ProposerError, Reply, Request
from kernelwright.store import Store
from kernelwright.tasks import Task, load_task
from tests.engine.world import Courts, Frail, Left, Writer, climbing, kernel, speed_of
from tests.judge.texts import TASKS

MACHINE = Hardware("a machine", {"cores": "2"})


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(TASKS / "relu.py")


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "runs.db") as store:
        yield store


def begin(store: Store, task: Task) -> str:
    run = store.begin_run(task=task.hash, wire=task.to_wire(), settings={}, versions={}, machine={})
    return run.id


def conductor(store: Store, task: Task, run: str, *, budget: int = 20, **parts: Any) -> Conductor:
    rules = parts.pop("rules", StopRules())
    settings = Settings(backend="cpp", budget=Budget(evaluations=budget), rules=rules, lanes=parts.pop("lanes", 1))
    made: list[Conductor] = []
    author = Author.with_seed(
        task, "cpp", MACHINE, lambda name: made[0].recall(name), evolve=parts.pop("evolve", False)
    )
    made.append(
        Conductor(
            run=run,
            task=task,
            settings=settings,
            store=store,
            method=method(parts.pop("search", "map-elites")),
            author=author,
            proposer=parts.pop("proposer", Writer(climbing)),
            fleet=parts.pop("fleet", Courts()),
            **parts,
        )
    )
    return made[0]


@pytest.mark.parametrize("search", ["map-elites", "best-of-n", "refine", "beam"])
def test_a_run_spends_its_budget_and_keeps_the_best(store, task, search):
    run, courts = begin(store, task), Courts()
    played = conductor(store, task, run, fleet=courts, search=search)
    assert played.play() == "the budget of 20 evaluations is used up"
    assert store.spent(run).evaluations == 20
    assert played.archive.best is not None
    fastest = max(speed_of(job.source) for job in courts.heard)
    assert math.exp(played.archive.best.log_speedup) == pytest.approx(fastest)


def test_the_same_text_twice_is_judged_once(store, task):
    courts = Courts()
    texts = iter([kernel(1.5), kernel(1.5), kernel(1.7)])

    def answer(request: Request, rng: random.Random) -> str:
        try:
            return next(texts)
        except StopIteration:
            raise ExhaustedError("the script has come to its end") from None

    played = conductor(store, task, begin(store, task), proposer=Writer(answer), fleet=courts, search="best-of-n")
    assert played.play() == "the script has come to its end"
    assert [speed_of(job.source) for job in courts.heard if job.measurement == 1] == [1.5, 1.7]


def test_a_lucky_challenger_does_not_take_the_cell(store, task):
    """Measured first, it looks twice as fast as it is; measured again beside the elite, it is slower."""
    texts = iter([kernel(1.5), kernel(1.2)])
    courts = Courts(luck=lambda job: 2.0 if speed_of(job.source) == 1.2 and job.measurement == 1 else 1.0)
    proposer = Writer(lambda request, rng: next(texts))
    played = conductor(store, task, begin(store, task), proposer=proposer, fleet=courts, budget=2, search="best-of-n")
    played.play()
    (elite,) = played.archive.elites.values()
    assert math.exp(elite.log_speedup) == pytest.approx(1.5)
    assert [job.measurement for job in courts.heard] == [1, 1, 2, 2]


def test_a_fault_of_the_machine_teaches_nothing_and_is_tried_again(store, task):
    run, courts = begin(store, task), Courts(faults=2)
    played = conductor(store, task, run, fleet=courts, budget=3)
    played.play()
    assert store.spent(run).evaluations == 3
    assert sum(event.kind == "fault" for event in store.events(run)) == 2


def test_a_machine_that_goes_on_failing_ends_the_run_with_a_sentence(store, task):
    played = conductor(store, task, begin(store, task), fleet=Courts(faults=99))
    with pytest.raises(RunError, match="the machine coughed"):
        played.play()


def test_an_answer_without_a_kernel_is_dropped_and_said(store, task):
    texts = iter(["I cannot help with that.", kernel(1.5)])
    run = begin(store, task)
    played = conductor(store, task, run, proposer=Writer(lambda request, rng: next(texts)), budget=1)
    played.play()
    assert [event.kind for event in store.events(run) if event.kind != CAME] == ["unusable"]
    assert played.archive.best is not None


def test_a_target_ends_the_run(store, task):
    played = conductor(store, task, begin(store, task), rules=StopRules(target=1.3), budget=500)
    assert "the target of 1.3x is reached" in played.play()


def test_a_run_that_is_interrupted_anywhere_ends_like_one_that_is_not(tmp_path, task):
    whole = _played(tmp_path / "whole.db", task, [])
    for lives in ([1, 3, 2, 5, 1, 4], [1] * 12, [2] * 9):
        assert _played(tmp_path / f"{sum(lives)}.db", task, lives) == whole


def test_an_answer_that_comes_while_the_run_is_taken_up_is_used_once(store, task, monkeypatch):
    """Whoever is asked again may answer before replies that nobody used are looked for."""
    run = begin(store, task)
    with pytest.raises(RunError):
        conductor(store, task, run, proposer=Writer(_silent)).play()
    assert [asked.id for asked in store.unanswered(run)] == ["1"]
    ask_again = Asking.ask_again

    def answered_at_once(self, draft):
        ask_again(self, draft)
        while not list(store.replies(run, draft.request.id)):
            time.sleep(0.001)

    monkeypatch.setattr(Asking, "ask_again", answered_at_once)
    conductor(store, task, run, budget=3).play()
    born = [birth.request for birth in store.births(run)]
    assert len(born) == len(set(born)) == 3


def _silent(request: Request, rng: random.Random) -> str:
    raise ProposerError("nobody is there")


def _played(path: Path, task: Task, lives: list[int]) -> tuple[Any, ...]:
    with Store(path) as store:
        run = begin(store, task)
    for life in lives:
        with Store(path) as store, pytest.raises(Left):
            conductor(store, task, run, fleet=Frail(life)).play()
    with Store(path) as store:
        played = conductor(store, task, run)
        played.play()
        replies = [reply.request for reply in store.replies(run)]
        assert len(replies) == len(set(replies))  # none was paid for twice
        jobs = [judged.job for judged in store.verdicts(run)]
        assert len(jobs) == len(set(jobs))
        return played.archive.to_json(), replies, jobs


def test_what_is_counted_along_is_what_the_store_would_count(store, task):
    run = begin(store, task)
    played = conductor(store, task, run, lanes=3, budget=25)
    played.play()
    counted, summed = played._purse.spent, store.spent(run)
    assert replace(counted, wall_seconds=0) == replace(summed, wall_seconds=0, dollars=pytest.approx(summed.dollars))


def test_nobody_pays_for_ever_for_a_model_that_repeats_itself(store, task):
    writer = Writer(lambda request, rng: kernel(1.5))
    played = conductor(store, task, begin(store, task), proposer=writer, budget=5, search="best-of-n")
    assert played.play().startswith("the last 30 answers held no new kernel")
    assert len(writer.asked) == 31


def test_of_what_was_judged_long_ago_the_store_remembers(store, task, monkeypatch):
    monkeypatch.setattr("kernelwright.engine._past.MOST_KNOWN", 3)
    run = begin(store, task)
    played = conductor(store, task, run)
    played.play()
    judged = {birth.candidate for birth in store.births(run)}
    assert {played.recall(name).source for name in judged} == {store.candidate(name).source for name in judged}
    assert len(played._past._known) == 3


def test_several_are_asked_at_once_and_none_is_lost(store, task):
    run, writer = begin(store, task), Writer(climbing)
    conductor(store, task, run, proposer=writer, lanes=4, budget=40).play()
    assert len({request.id for request in writer.asked}) == len(writer.asked)
    assert store.spent(run).evaluations == 40
    assert list(store.unanswered(run)) == []
    assert list(store.unjudged(run)) == []


def test_advice_is_rewritten_from_what_was_written_with_it(store, task):
    run = begin(store, task)

    def answer(request: Request, rng: random.Random) -> str:
        if request.kind != "rewrite":
            return climbing(request, rng)
        first = request.prompt.split("\n")
        line = next(line for line in first if len(line) > 40 and line in _advice())
        return f"<<<<<<< SEARCH\n{line}\n=======\n{line} Measure twice.\n>>>>>>> REPLACE\n"

    conductor(store, task, run, proposer=Writer(answer), evolve=True, budget=40).play()
    kinds = [asked.kind for asked in store.requests(run)]
    assert "rewrite" in kinds
    assert any("Measure twice." in text for genome in store.genomes("cpp") for text in genome.regions.values())


def _advice() -> str:
    from kernelwright.prompts import seed

    return "\n".join(seed("cpp").regions.values())


def test_reply_is_kept_before_it_is_used(store, task):
    """The store has it at the moment at which the engine hears of it."""
    run = begin(store, task)
    seen: list[int] = []

    class Watching(Courts):
        def submit(self, job):
            seen.append(sum(1 for _ in store.replies(run)))
            super().submit(job)

    conductor(store, task, run, fleet=Watching(), budget=3, search="best-of-n").play()
    assert seen[0] >= 1


def test_reply_type_is_what_the_world_says():
    assert isinstance(Writer(climbing).propose(Request(id="1", prompt="", kind="draft", backend="cpp")), Reply)
