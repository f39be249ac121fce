"""Judges that share cores take turns; those that share none go on beside each other."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kernelwright.judge import Judge, _turns, profile, sprint
from kernelwright.judge._turns import turn
from kernelwright.tasks import Task
from tests.judge.texts import RELU

PATIENCE, MOMENT = 30.0, 0.3
HOLD = """
import sys
from kernelwright.judge._turns import turn
with turn():
    print("mine", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another() -> Iterator[subprocess.Popen[str]]:
    """Another process has its turn on all cores until it ends."""
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "mine\n"
            yield holder
        finally:
            holder.kill()


def begun(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def take_a_turn() -> None:
    with turn():
        pass


def test_the_next_waits_until_the_first_is_through() -> None:
    with held_by_another() as holder:
        waiting = begun(take_a_turn)
        waiting.join(MOMENT)
        assert waiting.is_alive()
        assert holder.stdin is not None
        holder.stdin.close()
        waiting.join(PATIENCE)
        assert not waiting.is_alive()


def test_who_is_killed_lets_go() -> None:
    with held_by_another() as holder:
        holder.kill()
        waiting = begun(take_a_turn)
        waiting.join(PATIENCE)
        assert not waiting.is_alive()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="takes two cores")
def test_who_was_given_other_cores_does_not_wait() -> None:
    one, other, *_ = sorted(os.sched_getaffinity(0))
    inside, through = threading.Event(), threading.Event()

    def stay() -> None:
        os.sched_setaffinity(0, {one})  # of this thread alone
        with turn():
            inside.set()
            through.wait(PATIENCE)

    def pass_by() -> None:
        os.sched_setaffinity(0, {other})
        take_a_turn()

    begun(stay)
    assert inside.wait(PATIENCE)
    passing = begun(pass_by)
    passing.join(PATIENCE)
    assert not passing.is_alive()
    through.set()


@pytest.mark.parametrize("how", ["judge", "sprint", "profile"])
def test_judging_and_racing_wait_for_their_turn(how: str, small_judge: Judge, relu_task: Task) -> None:
    verdict = small_judge.judge(relu_task, RELU)
    work = {
        "judge": lambda: small_judge.judge(relu_task, RELU, timed=False),
        "sprint": lambda: sprint(small_judge, relu_task, [RELU], 1),
        "profile": lambda: profile(small_judge, relu_task, RELU, verdict=verdict),
    }[how]
    with held_by_another():
        waiting = begun(work)
        waiting.join(MOMENT)
        assert waiting.is_alive()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


def test_a_verdict_says_how_long_it_waited_and_does_not_count_it(small_judge: Judge, relu_task: Task) -> None:
    found = []
    with held_by_another():
        waiting = begun(lambda: found.append(small_judge.judge(relu_task, RELU, timed=False)))
        time.sleep(MOMENT)
    waiting.join(PATIENCE)
    (verdict,) = found
    assert verdict.seconds["waited"] > 0
    assert sum(verdict.seconds[part] for part in ("build", "load", "check")) <= verdict.seconds["total"] + 1e-3
    assert small_judge.judge(relu_task, RELU, timed=False).seconds["waited"] < verdict.seconds["waited"]


def test_where_files_cannot_be_locked_there_are_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(errno.ENOLCK, monkeypatch)
    take_a_turn()


def test_any_other_fault_of_a_lock_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(errno.EIO, monkeypatch)
    with pytest.raises(OSError, match="lock"):
        take_a_turn()


def fail_with(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, "lock")

    monkeypatch.setattr(_turns.fcntl, "flock", flock)
