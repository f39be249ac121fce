"""Faults that compute-sanitizer finds: its recorded words read, and the whole way with a program in its role."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Limits, OutOfReach, Status
from kernelwright.judge._status import Rejection
from kernelwright.judge.device import _sanitizer
from kernelwright.judge.device._sanitizer import TOOLS, _small, read
from kernelwright.tasks import input_bytes, load_task
from tests.judge.texts import RELU, TASKS, relu

RECORDED = Path(__file__).parent / "recorded"


def recorded(name):
    return (RECORDED / f"{name}.txt").read_text()


# *** reading ***


def test_a_write_beyond_the_end_is_read_with_its_place():
    report = read(recorded("memcheck"))
    (fault,) = report.own
    assert report.finished
    assert fault.kernel == "relu_and_count"
    assert fault.headline == "Invalid __global__ write of size 4 bytes"
    assert "and is 1 bytes after the nearest allocation at 0x7efdce87d000 of size 1,000 bytes" in fault.details
    assert fault.details[-1] == "called from line 26 of the candidate"


def test_reads_of_new_memory_are_counted_one_by_one():
    report = read(recorded("initcheck"))
    assert [fault.kernel for fault in report.own] == ["relu_if", "relu_if"]
    assert report.own[0].headline == "Uninitialized __global__ memory read of size 4 bytes"


def test_a_race_within_a_warp_is_a_warning():
    report = read(recorded("racecheck_warning"))
    assert report.own == []
    (warning,) = report.to_json()["warnings"]
    assert warning["kernel"] == "relu_by_neighbour"
    assert "Race reported between Write access" in warning["what"]


def test_a_race_between_warps_is_a_fault():
    report = read(recorded("racecheck_warning").replace("Warning:", "Error:"))
    assert report.own[0].kernel == "relu_by_neighbour"


def test_a_librarys_fault_is_not_the_candidates():
    text = recorded("initcheck").replace("at relu_if+", "at void at::native::vectorized_elementwise_kernel<4>(int)+")
    assert read(text).own == []
    assert len(read(text).faults) == 2


def test_a_clean_report_is_finished_and_one_that_breaks_off_is_not():
    clean = read(recorded("memcheck_clean"))
    assert (clean.faults, clean.finished) == ([], True)
    assert not read("========= COMPUTE-SANITIZER\n").finished
    assert not read("").finished


def test_large_tasks_are_shrunk_and_small_ones_are_not():
    small = load_task(TASKS / "relu.py")
    assert _small(small) is small
    large = load_task(Path(__file__).parents[1] / "gpu" / "tasks" / "relu.py")
    assert input_bytes(_small(large)) <= _sanitizer.LARGEST_BYTES < input_bytes(large)


# *** deciding ***


@pytest.fixture(scope="module")
def judge():
    with Judge(device="host", limits=Limits(call_s=10, load_s=20, total_s=120), sanitize=True) as judge:
        yield judge


@pytest.fixture
def found(monkeypatch):
    """What the tools report of the next candidates, each with how its call went."""
    said = {tool: (recorded("memcheck_clean"), None) for tool in TOOLS}

    def look(session, tool):
        text, failure = said[tool.name.split()[-1]]
        return read(text), failure

    monkeypatch.setattr(_sanitizer, "find", lambda: "/nowhere/compute-sanitizer")
    monkeypatch.setattr(_sanitizer._Session, "_look", look)
    return said


def judged(judge, source=RELU):
    return judge.judge(load_task(TASKS / "relu.py"), source, timed=False)


@pytest.fixture(scope="module")
def accepted(judge):
    """A verdict that the sanitizer has not yet looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "_sanitize", False)
        verdict = judged(judge)
    assert verdict.accepted, verdict.message
    return verdict


@pytest.fixture
def look(judge, accepted):
    """What becomes of it under the sanitizer."""
    fresh = replace(accepted, evidence=dict(accepted.evidence), time_ms={"candidate": 1.0})
    return lambda: _sanitizer.sanitize(judge, load_task(TASKS / "relu.py"), RELU, fresh)


def test_a_candidate_without_faults_stays_accepted(look, found):
    found["racecheck"] = (recorded("racecheck_warning"), None)
    verdict = look()
    assert verdict.accepted, verdict.message
    told = verdict.evidence["sanitizer"]["tools"]
    assert set(told) == set(TOOLS)
    assert told["memcheck"] == {"faults": [], "warnings": []}
    assert told["racecheck"]["warnings"]
    assert verdict.seconds["total"] >= verdict.seconds["sanitize"]


@pytest.mark.parametrize(
    ("tool", "report", "status"),
    [
        ("memcheck", recorded("memcheck"), Status.CRASH),
        ("racecheck", recorded("racecheck_warning").replace("Warning:", "Error:"), Status.NONDETERMINISTIC),
        ("initcheck", recorded("initcheck"), Status.NONDETERMINISTIC),
    ],
)
def test_a_fault_rejects_it_in_the_tools_words(look, found, tool, report, status):
    found[tool] = (report, None)
    verdict = look()
    assert (verdict.status, verdict.stage, verdict.accepted) == (status, "sanitize", False)
    assert verdict.message.startswith(f"{tool} finds: {read(report).own[0].headline}; ")
    assert verdict.time_ms == verdict.speedup == {}
    assert verdict.evidence["sanitizer"]["tools"][tool]["faults"]


def test_one_that_fails_only_under_a_tool_is_rejected_for_that(look, found):
    found["racecheck"] = (recorded("memcheck_clean"), Rejection(Status.CRASH, "raised ValueError: no"))
    verdict = look()
    assert (verdict.status, verdict.message) == (Status.CRASH, "raised ValueError: no")


def test_a_tool_that_breaks_off_is_nobodys_verdict(look, found):
    found["initcheck"] = ("========= COMPUTE-SANITIZER\n", None)
    with pytest.raises(OutOfReach, match="initcheck did not finish"):
        look()


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.OOM])
def test_a_tools_own_slowness_is_not_the_candidates(look, found, status):
    found["memcheck"] = ("", Rejection(status, "gave no answer within 400 s"))
    with pytest.raises(OutOfReach, match="memcheck did not finish: the candidate gave no answer") as refused:
        look()
    assert "smaller" in refused.value.fix


def test_a_candidate_that_is_not_accepted_is_not_looked_at(judge, found):
    verdict = judged(judge, relu("y[i] = 1;"))
    assert verdict.status is Status.WRONG_VALUE
    assert "sanitizer" not in verdict.evidence


def test_without_the_program_it_cannot_be_done(judge, monkeypatch):
    monkeypatch.setattr(_sanitizer, "installed", lambda name: None)
    with pytest.raises(OutOfReach, match="compute-sanitizer is not installed"):
        judged(judge)


def test_a_candidate_for_the_processor_is_not_for_the_sanitizer():
    with pytest.raises(OutOfReach, match="kernels on a GPU"):
        _sanitizer.check_possible(on_device=False)


# *** the whole way, with a program in compute-sanitizer's role ***

# Runs the program it is given, then reports what was recorded for its tool.
FAKE = """#!/bin/sh
tool=$2
while [ "$1" != -I ]; do last=$1; shift; done
"$last" "$@"
cat "$(dirname "$0")/$tool.txt" > report
"""


def test_the_program_runs_around_a_call_in_the_cage(judge, tmp_path, monkeypatch):
    program = tmp_path / "compute-sanitizer"
    program.write_text(FAKE)
    program.chmod(0o755)
    (tmp_path / "memcheck.txt").write_text(recorded("memcheck"))
    monkeypatch.setattr(_sanitizer, "find", lambda: str(program))
    verdict = judged(judge)
    assert verdict.status is Status.CRASH
    assert verdict.message.startswith("memcheck finds: Invalid __global__ write of size 4 bytes; at relu_and_count")
