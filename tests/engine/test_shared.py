"""Two engines on one PostgreSQL server at once, one of them killed again and again: real processes, the real judge."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from kernelwright.store import Records
from tests.engine.test_kills import (
    PATIENCE,
    SEED,
    Ordeal,
    Start,
    answered,
    begun,
    check_it_is_like_an_unbroken_one,
    check_nothing_is_lost,
    start,
)
from tests.judge.texts import TASKS

__all__ = ["start"]

pytestmark = [pytest.mark.postgres, pytest.mark.long]
KILLED, LEFT_ALONE = Ordeal(5, 3.0, 8), Ordeal(0, 0.0, 6)


def other_task(folder: Path) -> Path:
    """Kernels of one are kernels of the other, so that the engines write the same candidates; verdicts differ."""
    path = folder / "other_relu.py"
    path.write_text((TASKS / "relu.py").read_text() + "\n# The same, and another task.\n")
    return path


def begin(start: Start, task: Path, where: list[str], ordeal: Ordeal) -> tuple[subprocess.Popen[str], str]:
    process = start(
        "optimize", task, "--evaluations", ordeal.evaluations, "--in-flight", 1, "--without", "seeding", *where
    )
    return process, begun(process, where[-1])


def test_two_engines_share_a_server_and_one_is_killed(tmp_path: Path, start: Start, database: str) -> None:
    chance = random.Random(SEED)
    mine, others = (["--model", f"mailbox/{tmp_path / name}", "--store", database] for name in ("mine", "others"))
    with answered(tmp_path / "mine") as model, answered(tmp_path / "others") as other_model:
        process, run = begin(start, TASKS / "relu.py", mine, KILLED)
        neighbour, other = begin(start, other_task(tmp_path), others, LEFT_ALONE)
        assert run != other
        at_once = 0
        for _ in range(KILLED.kills):
            time.sleep(chance.uniform(0, KILLED.longest))
            assert process.poll() is None, "the run was over before it had been killed often enough"
            at_once += neighbour.poll() is None
            process.kill()
            process.communicate()
            check_it_is_whole(database, run)
            process = start("resume", run, *mine)
            assert begun(process, database) == run
        assert at_once, "the other engine was over before the first kill"
        for one in (process, neighbour):
            output, _ = one.communicate(timeout=PATIENCE)
            assert one.returncode == 0, output
    for name, told, ordeal in ((run, model, KILLED), (other, other_model, LEFT_ALONE)):
        check_nothing_is_lost(database, name, told, ordeal)
        check_it_is_like_an_unbroken_one(database, name, tmp_path / f"{name}.db")


def check_it_is_whole(store: str, run: str) -> None:
    """What belongs together is there together, the moment after a kill."""
    with Records(store) as records:
        for judged in records.verdicts(run):
            assert records.candidate(judged.candidate) is not None
        asked = {request.id for request in records.requests(run)}
        assert {reply.request for reply in records.replies(run)} <= asked
        assert {birth.request for birth in records.births(run)} <= asked
