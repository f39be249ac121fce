"""One program writes into a store that is a file. A second one is told who does; the lock of a dead one is free."""

import multiprocessing
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kernelwright.store import Records, State, Store, StoreError
from tests.store.conftest import begin

forked = multiprocessing.get_context("fork")


def _hold(path: Path, opened: Any) -> None:
    with Store(path) as store:
        begin(store)
        opened.set()
        opened.wait()
        forked.Event().wait()


@pytest.fixture
def other(path: Path) -> Any:
    """Another process that has opened the store and a run in it."""
    opened = forked.Event()
    process = forked.Process(target=_hold, args=(path, opened))
    process.start()
    assert opened.wait(30)
    yield process
    process.kill()
    process.join()


def test_the_second_program_is_told_who_writes_and_may_read(path: Path, other: Any) -> None:
    with pytest.raises(StoreError, match=f"in use by process {other.pid} on {socket.gethostname()}") as caught:
        Store(path)
    assert "store of its own" in caught.value.fix
    with Records(path) as records:
        (run,) = records.runs()
        owner = records.writer(run.id)
        assert owner is not None
        assert owner.pid == other.pid
        assert run.state is State.RUNNING


def test_the_lock_of_one_that_was_killed_is_taken_over_and_his_run_was_interrupted(path: Path, other: Any) -> None:
    other.kill()
    other.join()
    with Records(path) as records:
        (run,) = records.runs()
        assert records.writer(run.id) is None
        assert run.state is State.RUNNING
    with Store(path) as store:
        assert store.left_by is not None
        assert store.left_by.pid == other.pid
        assert store.resume_run(run.id).id == run.id


def test_a_second_store_in_the_same_process_is_refused_too(path: Path) -> None:
    with Store(path), pytest.raises(StoreError, match=f"process {os.getpid()} "):
        Store(path)


def test_who_closes_leaves_nothing_to_take_over(path: Path) -> None:
    Store(path).close()
    with Store(path) as store:
        assert store.left_by is None


def test_a_store_that_could_not_be_opened_leaves_the_lock_free(path: Path) -> None:
    path.write_text("no database " * 100)
    for _ in range(2):
        with pytest.raises(StoreError, match="no SQLite database"):
            Store(path)
