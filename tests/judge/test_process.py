"""A worker from the judge's side: stopped when it answers, its inputs known by page, its questions in order."""

import mmap
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Limits
from kernelwright.judge._channel import Closed
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Template, Worker, file_in_maps
from kernelwright.judge._reference import Reference
from kernelwright.judge._sandbox import Cage
from kernelwright.tasks import Task

COPIES = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
WRITES = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        x[0].mul_(1)  # the same values: only the page tells
        return torch.relu(x)
"""
LONG = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return "long" * 200_000
"""


def test_a_worker_that_is_forked_before_torch_is_imported_works_like_any_other():
    cage = Cage(namespaces=False, memory_bytes=1 << 33, disk_bytes=1 << 30)
    template = Template(limits=Limits().settled(), early=("referee", cage))
    try:
        for _ in range(2):  # the early one, and one forked when it is asked for
            worker = template.fork("referee", cage=cage)
            order = {"op": "open", "kind": "host", "library": None, "own_allocator": False, "profiler": False}
            assert worker.ask(order, timeout=60)["op"] == "opened"
            assert not worker.finish().problem
    finally:
        template.close()


def test_what_the_template_has_imported_its_workers_have_too(small_judge: Judge, start) -> None:
    """And one that cannot be imported harms nobody."""
    small_judge.template.drop_spares()
    for module in ("colorsys", "no_such_module"):
        small_judge.template.have(module)
    start("""
import sys
import torch
assert "colorsys" in sys.modules
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x
""")


def _forker(worker: Worker) -> int:
    """Who forked its supervisor."""
    return parent(parent(worker.pid))


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_torchs_compiler_is_loaded_once_and_only_where_references_are_compiled(
    small_judge: Judge, relu_task: Task, start
) -> None:
    reference = Reference(small_judge.template, relu_task, seed=0)
    reference.use_weights(0)
    try:
        one, other = (reference.compiled(mode) for mode in ("default", "max-autotune"))
        assert _forker(one) == _forker(other)
        assert parent(_forker(one)) == _forker(reference.worker)
    finally:
        reference.close()
    start("""
import sys
import torch
assert "torch._inductor.codecache" not in sys.modules
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x
""")


def test_that_a_compiled_reference_has_died_is_noticed(small_judge: Judge, relu_task: Task) -> None:
    cage = Cage(namespaces=False, memory_bytes=1 << 34, disk_bytes=1 << 30)
    worker = small_judge.template.fork("compiled", cage=cage)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(Closed):
        worker.ask({"op": "compile", "mode": "default"}, timeout=60)
    assert worker.finish().signal == signal.SIGKILL


@pytest.fixture
def prepared(small_judge: Judge, relu_task: Task) -> Prepared:
    return small_judge.prepare(relu_task)


@pytest.fixture
def start(small_judge: Judge, prepared: Prepared) -> Iterator[object]:
    started: list[Contestant] = []

    def start(source: str) -> Contestant:
        started.append(small_judge.start(prepared, source))
        return started[-1]

    yield start
    for contestant in started:
        contestant.close()


def states(contestant: Contestant) -> set[str]:
    folder = f"/proc/{contestant.worker.pid}/task"
    texts = [Path(folder, thread, "stat").read_text() for thread in os.listdir(folder)]
    return {text.rpartition(")")[2].split()[0] for text in texts}


def test_a_worker_stands_still_once_it_has_answered_and_goes_on_when_asked(start, prepared):
    contestant = start(COPIES)
    inputs = prepared.trials[0].inputs
    contestant.call(inputs)
    deadline = time.monotonic() + 5
    while states(contestant) != {"T"} and time.monotonic() < deadline:
        time.sleep(0.001)  # until every thread has heard of the stop
    assert states(contestant) == {"T"}
    contestant.call(inputs)
    contestant.resume()
    assert "T" not in states(contestant)


def test_time_in_line_for_a_core_is_counted_and_only_grows(start, prepared):
    contestant = start(COPIES)
    before = contestant.worker.queued_seconds()
    contestant.call(prepared.trials[0].inputs)
    assert 0 < before <= contestant.worker.queued_seconds()


def test_an_answer_too_long_to_be_said_at_once_is_still_heard(start, prepared):
    _, answer = start(LONG).call(prepared.trials[0].inputs)
    assert answer.leaves == []


def test_inputs_that_were_only_read_are_known_by_their_pages(start, prepared):
    contestant = start(COPIES)
    placed, _ = contestant.call(prepared.trials[0].inputs)
    assert contestant.worker.shares_inputs(placed)
    assert contestant.worker.keeps_inputs_mapped()


def test_a_page_that_was_written_is_compared_byte_by_byte(start, prepared):
    contestant = start(WRITES)
    placed, _ = contestant.call(prepared.trials[0].inputs)
    assert not contestant.worker.shares_inputs(placed)
    contestant.check_inputs(placed)  # the same bytes as before: no fault


def test_questions_to_the_reference_wait_for_a_trial_that_is_being_drawn(prepared):
    case = prepared.task.cases[0]
    first, second = prepared.begin_fresh(case), prepared.begin_fresh(case)
    sway = prepared.sway(prepared.trials[0].inputs)
    drawn = [second(), first()]
    assert [len(move) for move in sway] == [len(out.plain) for out in prepared.trials[0].expected.outputs]
    assert all(trial is not None and trial.family == "given" for trial in drawn)
    assert drawn[0].seed != drawn[1].seed


def test_processes_made_ahead_are_used_and_the_rest_ended(small_judge, prepared, start):
    small_judge.start_ahead(2)
    spares = [talk for pairs in small_judge._template._spares.values() for talk, _ in pairs]
    start(COPIES)
    assert sum(len(pairs) for pairs in small_judge._template._spares.values()) == len(spares) - 1
    small_judge.drop_ahead()
    assert not small_judge._template._spares


def test_a_mapped_file_is_told_from_one_with_its_number_on_another_device(tmp_path: Path) -> None:
    fd = os.memfd_create("known-by-its-device")
    os.ftruncate(fd, mmap.PAGESIZE)
    with mmap.mmap(fd, mmap.PAGESIZE), open("/proc/self/maps", encoding="utf-8") as lines:
        shown = [line.split(maxsplit=5)[3:5] for line in lines if "memfd:known-by-its-device" in line]
    assert shown == [file_in_maps(fd)]
    os.close(fd)
    with (tmp_path / "library.so").open("w") as other:
        assert file_in_maps(other.fileno())[0] != shown[0][0]
