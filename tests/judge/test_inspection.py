"""A candidate called once under a tool: what the tool reports, and what is said when it cannot."""

import sys
from dataclasses import replace

import pytest

from kernelwright.judge import InfraError, Judge, Limits, Status
from kernelwright.judge.device._inspection import Inspected, Tool
from kernelwright.tasks import load_task
from tests.judge.texts import RELU, TASKS

# Runs the program, then tells how it ended.
TELLING = Tool("telling", ("sh", "-c", '"$@"; echo ended $? > report', "telling"))


@pytest.fixture(scope="module")
def judge():
    with Judge(device="host", limits=Limits(call_s=10, load_s=20, total_s=120)) as judge:
        yield judge


@pytest.fixture(scope="module")
def inspect(judge):
    if not judge.isolation.namespaces:
        pytest.skip("this kernel has no namespaces for a cage")
    prepared = judge.prepare(load_task(TASKS / "relu.py"), on_device=True)

    def run(source, tool=TELLING):
        inspected = Inspected(judge.template, prepared, judge.builder, source, tool, limits=judge.limits)
        try:
            return inspected.call_once(prepared.trials[0]), inspected.failure
        finally:
            inspected.close()

    return run


def before_result(line):
    return RELU.replace("        y = torch.empty_like(x)", f"        {line}\n        y = torch.empty_like(x)")


def test_the_call_is_made_and_the_report_comes_back(inspect):
    report, failure = inspect(RELU)
    assert report.startswith("ended 0\n")
    assert failure is None


def test_it_happens_in_the_cage(inspect, tmp_path):
    (tmp_path / "secret").write_text("seen")
    look = f"cat {tmp_path}/secret > report 2>&1; cat /proc/net/route >> report; exit 1"
    with pytest.raises(InfraError) as refused:
        inspect(RELU, Tool("curious", ("sh", "-c", look)))
    assert "No such file" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 2  # of the routes there is only the heading


def test_a_candidate_that_ends_its_process_still_leaves_a_report(inspect):
    report, failure = inspect(before_result("import os; os._exit(3)"))
    assert report.startswith("ended 3\n")
    assert failure.status is Status.CRASH


def test_a_candidate_that_raises_is_told_as_such(inspect):
    report, failure = inspect(before_result("raise ValueError('no')"))
    assert report.startswith("ended 0\n")
    assert "ValueError: no" in failure.message


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (Tool("missing", ("/nowhere/tool",)), "missing does not run here: .*No such file"),
        (Tool("grumpy", ("sh", "-c", "echo not today > report; exit 1")), "grumpy does not run here: not today"),
        (Tool("mute", ("true",)), "mute does not run here: it says nothing"),
    ],
)
def test_a_tool_that_does_not_run_is_the_machines_fault(inspect, tool, words):
    with pytest.raises(InfraError, match=words):
        inspect(RELU, tool)


# What tools do with the process they look into, and what nobody in a cage may do.
TALK = """
import os, signal, socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
child = os.fork()
if not child:
    signal.pause()
os.kill(child, signal.SIGKILL)
print("spoken and ended", os.WTERMSIG(os.waitpid(child, 0)[1]))
"""
LEAVE = "import ctypes; ctypes.CDLL(None).unshare(0x10000000)"


def test_in_it_processes_may_talk_to_each_other_and_end_each_other(inspect):
    with pytest.raises(InfraError, match="spoken and ended 9"):
        inspect(RELU, Tool("talking", ("sh", "-c", f"{sys.executable} -c '{TALK}' > report 2>&1; exit 1")))


def test_without_namespaces_no_tool_is_used(judge, inspect, monkeypatch):
    monkeypatch.setattr(judge.template, "isolation", replace(judge.isolation, namespaces=False))
    with pytest.raises(InfraError, match="telling is not used: without namespaces"):
        inspect(RELU)


def test_and_no_more_than_that(judge, inspect):
    if not judge.isolation.filter:
        pytest.skip("there is no filter for this machine")
    with pytest.raises(InfraError, match="159"):  # 128 and SIGSYS
        inspect(RELU, Tool("leaving", ("sh", "-c", f"{sys.executable} -c '{LEAVE}'; echo $? > report; exit 1")))
