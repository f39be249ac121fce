"""The judge itself behind both fleets."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelwright.fleet import Here, Job, Kind, Result, Spool
from kernelwright.judge import Judge
from tests.judge.texts import EIGHT

WRONG = EIGHT.replace("+ 1", "+ 2")


@pytest.fixture(autouse=True)
def _cache_here(throwaway_cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(throwaway_cache))
        yield


def _by_candidate(results: list[Result]) -> dict[str, str]:
    return {result.candidate: str(result.verdict and result.verdict["status"]) for result in results}


def test_a_worker_elsewhere_judges_what_waits_and_leaves(spool: Spool, folder: Path, job: Callable[..., Job]) -> None:
    right, wrong = job(EIGHT, timed=False), job(WRONG, timed=False)
    spool.submit(right)
    spool.submit(wrong)
    command = [sys.executable, "-m", "kernelwright.fleet.worker", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr
    assert done.stdout.splitlines()[-1] == "2 judged; nothing more waits"
    assert _by_candidate(spool.finished(0)) == {right.candidate: "UNTIMED", wrong.candidate: "WRONG_VALUE"}


def test_a_worker_that_a_scheduler_ends_gives_back_what_it_was_judging(
    spool: Spool, folder: Path, job: Callable[..., Job]
) -> None:
    spool.submit(job(EIGHT))
    command = [sys.executable, "-m", "kernelwright.fleet.worker", str(folder), "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while not list((folder / "taken").iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "stopped; what was not judged waits\n")
    assert [path.stem for path in (folder / "waiting").iterdir()] == [job(EIGHT).name]
    assert not list((folder / "faults").iterdir())


def test_a_judge_that_dies_under_a_candidate_is_replaced(job: Callable[..., Job]) -> None:
    def judges(**given: object) -> Judge:
        judge = Judge(**given)  # type: ignore[arg-type]
        if not made:
            os.kill(judge.template._process.pid, signal.SIGKILL)
        made.append(judge)
        return judge

    made: list[Judge] = []
    here = Here(judges=judges)
    try:
        here.submit(job(EIGHT, timed=False))
        (result,) = here.finished(120)
    finally:
        here.close()
    assert (result.kind, len(made)) == (Kind.JUDGED, 2)
    assert result.verdict is not None
    assert result.verdict["status"] == "UNTIMED"


def test_the_worker_needs_few_packages() -> None:
    program = """
import sys
import kernelwright.fleet.worker
heavy = {"pydantic", "typer", "rich", "sqlalchemy", "torch"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.slow
def test_a_verdict_is_explained_without_judging_again(spool: Spool, folder: Path, job: Callable[..., Job]) -> None:
    here = Here()
    try:
        here.submit(job(EIGHT))
        (judged,) = here.finished(120)
        assert judged.verdict is not None
        wanted = job(EIGHT, profile_of=judged.verdict)
        here.submit(wanted)
        (found,) = here.finished(120)
    finally:
        here.close()
    assert found.kind is Kind.PROFILED
    assert found.profile is not None, found.reason
    assert found.profile["verdict"]["time_ms"] == judged.verdict["time_ms"]
    assert found.profile["bottleneck"]["name"]
    spool.submit(wanted)
    command = [sys.executable, "-m", "kernelwright.fleet.worker", str(folder)]
    assert not subprocess.run(command, capture_output=True, timeout=120, check=False).returncode
    (elsewhere,) = spool.finished(0)
    assert elsewhere.profile is not None, elsewhere.reason
