"""A search that is killed at any moment goes on as if it had not been: a real process, the real judge, SIGKILL.

Verdicts hold measured times, which are never the same twice. So the run that is killed is played first, and an unbroken
one afterwards with the same replies and, job by job, the same verdicts. What the engine makes of them must be the same,
down to the last word of every prompt, and it must not ask for a measurement that the killed run has not made.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelwright.engine import Means, resume
from kernelwright.fleet import Spool
from kernelwright.propose import Replay
from kernelwright.store import FINAL, Records, State, Store, StoreError
from tests.engine.killed import LOOK_SECONDS, Answerer, Recorded, replies
from tests.judge.texts import TASKS

COMMAND = [sys.executable, "-c", "from kernelwright.cli import main; main()"]
PATIENCE = 300.0
SEED = 1

Start = Callable[..., subprocess.Popen[str]]


@dataclass(frozen=True)
class Ordeal:
    """How often a run is killed, how many seconds at most after it has begun or goes on, and how long it is."""

    kills: int
    longest: float
    evaluations: int


SPOOL, HERE = Ordeal(30, 1.5, 36), Ordeal(5, 6.0, 14)


@pytest.fixture
def start(tmp_path: Path, throwaway_cache: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []
    settings = {**os.environ, "KERNELWRIGHT_CACHE": str(throwaway_cache), "PYTHONUNBUFFERED": "1"}

    def begin(*arguments: object, into: Path | None = None) -> subprocess.Popen[str]:
        out = into.open("w") if into else subprocess.PIPE
        command = [*COMMAND, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, text=True, env=settings, cwd=tmp_path)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


@contextmanager
def answered(folder: Path) -> Iterator[Answerer]:
    folder.mkdir()
    model = Answerer(folder)
    model.start()
    try:
        yield model
    finally:
        model.stop()


def begun(process: subprocess.Popen[str], store: Path | str) -> str:
    """The run's name, as soon as the process has the store and the run is in it."""
    while process.poll() is None:
        with suppress(StoreError), Records(store) as records:
            for run in records.runs():
                owner = records.writer(run.id)
                if owner and owner.pid == process.pid:
                    return run.id
        time.sleep(LOOK_SECONDS)
    raise AssertionError(process.communicate()[0])


def killed_and_resumed(start: Start, store: Path, where: list[object], ordeal: Ordeal) -> str:
    """Plays a run to its end, killing it so many times on the way; its name."""
    chance = random.Random(SEED)
    where = [*where, "--store", store]
    budget = ["--evaluations", ordeal.evaluations, "--in-flight", 1]
    process = start("optimize", TASKS / "relu.py", *budget, *where)
    name = begun(process, store)
    for _ in range(ordeal.kills):
        time.sleep(chance.uniform(0, ordeal.longest))
        assert process.poll() is None, "the run was over before it had been killed often enough"
        process.kill()
        process.communicate()
        process = start("resume", name, *where)
        assert begun(process, store) == name
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    return name


def check_nothing_is_lost(place: Path | str, run: str, model: Answerer, ordeal: Ordeal) -> None:
    with Records(place) as records:
        assert records.run(run).state is State.FINISHED
        kept = Counter(reply.request for reply in records.replies(run))
        assert set(model.given.values()) == {1}
        assert set(kept.values()) == {1}
        assert len(kept) == len(model.given)
        assert list(records.unanswered(run)) == list(records.unused(run)) == list(records.unjudged(run)) == []
        assert records.spent(run).evaluations == ordeal.evaluations
        assert [event.kind for event in records.events(run)].count(FINAL) == 1


def check_it_is_like_an_unbroken_one(place: Path | str, run: str, unbroken: Path) -> None:
    with Records(place) as records, Store(unbroken) as store:
        one = records.run(run)
        wire = records.task(one.task)
        assert wire is not None
        new = store.begin_run(
            task=one.task, wire=wire, settings=one.settings, versions=one.versions, machine=one.machine
        ).id
        fleet = Recorded(records, run)
        resume(new, Means(store=store, proposer=Replay(replies(records, run)), fleet=fleet))
        assert [asked.prompt for asked in store.requests(new)] == [asked.prompt for asked in records.requests(run)]
        assert [move.data for move in store.moves(new)] == [move.data for move in records.moves(run)]
        assert sorted(fleet.heard) == sorted(judged.job for judged in records.verdicts(run))


@pytest.mark.slow
def test_thirty_kills_lose_nothing_and_change_nothing(tmp_path: Path, start: Start) -> None:
    """Judged by a worker that lives on, and says what it has judged."""
    store, spool, told = tmp_path / "runs.db", tmp_path / "spool", tmp_path / "worker.txt"
    where = ["--model", f"mailbox/{tmp_path / 'mail'}", "--fleet", f"spool/{spool}"]
    with answered(tmp_path / "mail") as model:
        Spool(spool).close()  # the folder, for the worker to open
        start("worker", "spool", spool, "--watch", into=told)
        run = killed_and_resumed(start, store, where, SPOOL)
    check_nothing_is_lost(store, run, model, SPOOL)
    judged = Counter(line.split()[0] for line in told.read_text().splitlines() if " " in line)
    assert set(judged.values()) == {1}, "somebody was judged twice"
    with Records(store) as records:  # or there was hardly anything that a kill could have spoilt
        assert {"contest", "profile", "unusable"} <= {event.kind for event in records.events(run)}
    check_it_is_like_an_unbroken_one(store, run, tmp_path / "unbroken.db")


@pytest.mark.slow
def test_kills_of_a_search_that_judges_here_change_nothing(tmp_path: Path, start: Start) -> None:
    store = tmp_path / "runs.db"
    where = ["--model", f"mailbox/{tmp_path / 'mail'}"]
    with answered(tmp_path / "mail") as model:
        run = killed_and_resumed(start, store, where, HERE)
    check_nothing_is_lost(store, run, model, HERE)
    check_it_is_like_an_unbroken_one(store, run, tmp_path / "unbroken.db")
