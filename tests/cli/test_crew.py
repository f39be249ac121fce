"""Entries are handed out so that those under way fit beside each other."""

import contextlib
import threading

import pytest

from kernelwright.cli._crew import Queue, work


def sized(*sizes):
    return Queue(list(sizes), need=float, room=10)


def test_the_largest_that_fits_comes_first():
    queue = sized(2, 7, 5, 1)
    assert [queue.take(), queue.take(), queue.take()] == [7, 2, 1]
    queue.done(7)
    assert queue.take() == 5
    assert queue.take() is None


def test_what_fits_nowhere_is_tried_alone_at_the_end():
    queue = sized(99, 3)
    assert queue.take() == 3
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(queue.take()))
    waiting.start()
    assert taken == []
    queue.done(3)
    waiting.join(10)
    assert taken == [99]
    assert queue.take() is None


def test_all_entries_are_done_once_each_worker_with_its_own_tool():
    done, tools = [], []

    @contextlib.contextmanager
    def tool():
        tools.append(object())
        yield tools[-1]

    work(sized(1, 2, 3, 4, 5), tool, lambda tool, entry: done.append(entry), jobs=3)
    assert sorted(done) == [1, 2, 3, 4, 5]
    assert len(tools) == 3


def test_what_one_worker_raises_ends_all():
    def do(tool, entry):
        raise ValueError(entry)

    with pytest.raises(ValueError, match="5"):
        work(sized(5, 5, 5), contextlib.nullcontext, do, jobs=1)
