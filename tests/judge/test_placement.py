"""Busy threads get cores of their own; what a process chose for itself, and what it begins later, is left alone."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kernelwright.judge._placement import Attention, Threads

CORES = sorted(os.sched_getaffinity(0))
LOOKS = 50
BUSY = """
import sys, threading, hashlib
block = bytes(1 << 22)
def work():
    while True:
        hashlib.sha256(block).digest()  # lets other threads run meanwhile
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
work()
"""

needs_two = pytest.mark.skipif(len(CORES) < 2, reason="one core cannot be shared out")


@contextmanager
def busy_process(threads: int) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", BUSY, str(threads)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.wait()


def masks(pid: int) -> list[set[int]]:
    return [os.sched_getaffinity(int(thread)) for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int)]


def spread_for_a_while(threads: Threads) -> None:
    for _ in range(20):
        threads.spread()
        subprocess.run(["sleep", "0.02"], check=True)


@needs_two
def test_two_busy_threads_get_a_core_each():
    with busy_process(2) as pid:
        spread_for_a_while(Threads(pid))
        assert masks(pid) == [{CORES[0]}, {CORES[1]}]


@needs_two
def test_the_first_thread_gets_its_cores_back_and_the_others_stay():
    with busy_process(2) as pid:
        threads = Threads(pid)
        spread_for_a_while(threads)
        threads.release()
        assert masks(pid) == [set(CORES), {CORES[1]}]


@needs_two
def test_more_threads_than_cores_are_left_to_the_kernel():
    with busy_process(len(CORES) + 2) as pid:
        spread_for_a_while(Threads(pid))
        assert masks(pid) == [set(CORES)] * (len(CORES) + 2)


@needs_two
def test_a_thread_that_chose_its_core_keeps_it():
    with busy_process(2) as pid:
        os.sched_setaffinity(pid, {CORES[-1]})
        spread_for_a_while(Threads(pid))
        assert masks(pid)[0] == {CORES[-1]}


def test_a_process_that_is_gone_is_no_error():
    with busy_process(1) as pid:
        threads = Threads(pid)
    threads.spread()
    threads.release()


@contextmanager
def kept_to(core: int) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def busy_on(core: int) -> Iterator[None]:
    with busy_process(1) as pid:
        os.sched_setaffinity(pid, {core})
        yield


def looks(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.01)


@needs_two
def test_who_was_given_one_core_is_not_disturbed_by_what_runs_on_another():
    with busy_on(CORES[1]), busy_on(CORES[1]), kept_to(CORES[0]), Attention() as attention:
        assert not all(attention.disturbed() for _ in looks(seconds=20))  # others may come and go


@needs_two
def test_who_was_given_one_core_is_disturbed_by_what_runs_there():
    with busy_on(CORES[0]), kept_to(CORES[0]), Attention() as attention:
        assert all(attention.disturbed() for _ in range(LOOKS))


@needs_two
def test_who_was_given_all_cores_is_disturbed_by_what_runs_on_any():
    with busy_on(CORES[0]), Attention() as attention:
        assert all(attention.disturbed() for _ in range(LOOKS))


def test_attention_ends_as_it_began():
    before = (os.sched_getaffinity(0), os.sched_getscheduler(0))
    with Attention():
        assert len(os.sched_getaffinity(0)) == 1
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == before
