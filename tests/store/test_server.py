"""A store on a server: several programs write at once, into a run one of them, and whoever is gone has let go."""

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kernelwright.store import ENVIRONMENT, Event, Genome, Place, Records, State, Store, StoreError, _postgres
from kernelwright.store._error import DiskError
from tests.postgres import Server
from tests.store.conftest import answered, asked, begin, birth, candidate, judged

pytestmark = pytest.mark.postgres
forked = multiprocessing.get_context("fork")


@pytest.fixture
def in_the_background() -> Any:
    """Starts a process that does something with the store, and is killed in the end."""
    started = []

    def start(work: Callable[..., None], *arguments: Any) -> Any:
        process = forked.Process(target=work, args=arguments)
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()


def _hold(address: str, name: Any, opened: Any) -> None:
    with Store(address) as store:
        run = begin(store).id
        name.send(run)
        opened.set()
        forked.Event().wait()


@pytest.fixture
def other(database: str, in_the_background: Any) -> tuple[Any, str]:
    """Another process that plays a run; its name."""
    heard, said = forked.Pipe(duplex=False)
    opened = forked.Event()
    process = in_the_background(_hold, database, said, opened)
    assert opened.wait(30)
    return process, heard.recv()


def test_a_run_that_another_program_plays_is_refused_and_can_be_read(database: str, other: tuple[Any, str]) -> None:
    process, run = other
    with Store(database) as store:
        here = f"run {run} in .* is in use by process {process.pid} on {socket.gethostname()[:30]}"
        with pytest.raises(StoreError, match=here) as caught:
            store.resume_run(run)
        assert "reading is possible" in caught.value.fix
        with pytest.raises(StoreError, match="is in use by"):
            store.note_event(Event(run=run, kind="k"))
        assert begin(store).id != run
    with Records(database) as records:
        owner = records.writer(run)
        assert owner is not None
        assert owner.pid == process.pid
        assert abs(owner.since - time.time()) < 120
        assert not list(records.events(run))


def test_a_run_whose_program_was_killed_is_free_at_once(database: str, other: tuple[Any, str]) -> None:
    process, run = other
    process.kill()
    process.join()
    with Store(database) as store:
        assert store.resume_run(run).id == run
        assert [run.state for run in store.runs()] == [State.RUNNING]
        owner = store.writer(run)
        assert owner is not None
        assert owner.pid == os.getpid()
    with Records(database) as records:
        assert records.writer(run) is None


def _in_the_middle(address: str, opened: Any) -> None:
    """Killed while it has the turn, with rows that nobody may ever see."""
    with Store(address) as store:
        run = begin(store).id
        with store.together():
            store.keep_candidate(candidate(7), birth(run, 7))
            opened.set()
            forked.Event().wait()


def test_who_is_killed_within_a_transaction_leaves_nothing_of_it_and_makes_nobody_wait(
    database: str, in_the_background: Any
) -> None:
    opened = forked.Event()
    process = in_the_background(_in_the_middle, database, opened)
    assert opened.wait(30)
    process.kill()
    process.join()
    with Store(database) as store:
        (run,) = store.runs()
        assert store.candidate(candidate(7).hash) is None
        store.resume_run(run.id)
        assert store.keep_candidate(candidate(7), birth(run.id, 7))


def _write(address: str, ready: Any) -> None:
    """The same candidates, advice and task as everybody else's, in an order of its own."""
    with Store(address) as store:
        run = begin(store).id
        ready.wait()
        numbers = range(30) if os.getpid() % 2 else range(29, -1, -1)
        for number in numbers:
            store.note_request(asked(run, number))
            store.keep_reply(answered(run, number))
            with store.together():
                store.keep_candidate(candidate(number), birth(run, number))
                store.keep_candidate(candidate(29 - number), birth(run, 29 - number))
                store.keep_genome(Genome(hash=f"g{number}", backend="cpp", regions={}, run=run))
            store.keep_verdict(judged(run, number))
        store.end_run(run, State.FINISHED)


def test_programs_that_write_at_once_share_what_is_the_same(database: str, in_the_background: Any) -> None:
    ready = forked.Event()
    writers = [in_the_background(_write, database, ready) for _ in range(3)]
    ready.set()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    with Records(database) as records:
        runs = list(records.runs())
        assert [run.state for run in runs] == [State.FINISHED] * 3
        assert len(list(records.genomes("cpp"))) == 30
        for run in runs:
            assert len(list(records.verdicts(run.id))) == 30
            assert len(list(records.births(run.id))) == 60
            assert not list(records.unused(run.id))


def test_a_store_is_made_once_however_many_come_at_first(database: str) -> None:
    failed = []

    def come() -> None:
        try:
            with Store(database) as store:
                begin(store)
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=come) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with Records(database) as records:
        assert len(list(records.runs())) == 6


def test_who_hangs_in_a_turn_is_named_as_the_reason(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_postgres.SETTINGS, "lock_timeout", "300ms")
    with Store(database) as store, Store(database) as other:
        run = begin(other).id
        with store.together():
            begin(store)
            with pytest.raises(StoreError, match="is being written by another program"):
                other.note_event(Event(run=run, kind="k"))
        other.note_event(Event(run=run, kind="k"))


# Servers that go away


def test_a_connection_that_was_lost_is_not_replaced_by_one_without_locks(server: Server, database: str) -> None:
    with Store(database) as store:
        run = begin(store).id
        store.note_event(Event(run=run, kind="kept"))
        server.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'kernelwright %'"
        )
        for _ in range(2):
            with pytest.raises(StoreError, match="was lost; nothing that was acknowledged is lost") as caught:
                store.note_event(Event(run=run, kind="lost"))
            assert "resume" in caught.value.fix
    with Store(database) as store:
        store.resume_run(run)
        assert [event.kind for event in store.events(run)] == ["kept"]


def test_a_server_that_is_started_again_has_all_that_was_acknowledged(server: Server, database: str) -> None:
    with Store(database) as store:
        run = begin(store).id
        store.note_event(Event(run=run, kind="kept"))
        server.stop(signal.SIGQUIT)  # as it is
        with pytest.raises(StoreError, match="lost"):
            store.note_event(Event(run=run, kind="lost"))
        with pytest.raises(StoreError, match="cannot be reached") as caught:
            Store(database)
        assert "that the server runs" in caught.value.fix
    server.start()
    with Store(database) as store:
        assert [event.kind for event in store.events(store.resume_run(run).id)] == ["kept"]


# What a server refuses


def test_wrong_addresses_get_a_sentence_each(server: Server) -> None:
    with pytest.raises(StoreError, match="is a server without that database") as caught:
        Store(server.address("nowhere"))
    assert "createdb nowhere" in caught.value.fix
    with pytest.raises(StoreError, match="cannot be reached"):
        Records("postgresql://me@127.0.0.1:1/runs")
    with pytest.raises(StoreError, match="cannot be reached"):
        Records("postgresql://me@nowhere.invalid/runs")


def test_a_database_of_something_else_is_left_alone(server: Server, database: str) -> None:
    name = Place.at(database).url.database  # type: ignore[union-attr]
    server.execute("create table guests (name text)", name)
    for kind in (Store, Records):
        with pytest.raises(StoreError, match="a database of something else"):
            kind(database)
    assert server.execute("select tablename from pg_tables where schemaname = 'public'", name) == [("guests",)]


def test_passwords_are_asked_for_used_and_never_said(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Place.at(database).url.database  # type: ignore[union-attr]
    server.execute("create role keeper login password 'sesame'")
    server.execute(f"alter database {name} owner to keeper")
    plain = f"postgresql://keeper@127.0.0.1:{server.port}/{name}"
    for said in (plain, plain.replace("keeper@", "keeper:wrong@")):
        with pytest.raises(StoreError, match="lets nobody in as keeper") as caught:
            Store(said)
        assert "PGPASSWORD" in caught.value.fix
        assert "wrong" not in str(caught.value)
    with Store(plain.replace("keeper@", "keeper:sesame@")) as store:
        assert str(store.place) == plain
        with pytest.raises(StoreError) as caught:
            store.run("nothing")
        assert "sesame" not in str(caught.value)
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", "sesame")
        Store(plain).close()
    monkeypatch.setenv(ENVIRONMENT, plain.replace("keeper@", "keeper:sesame@"))
    Store(plain).close()


def test_who_may_only_read_is_told_so(server: Server, database: str) -> None:
    name = Place.at(database).url.database  # type: ignore[union-attr]
    with Store(database) as store:
        run = begin(store)
    server.execute("create role reader login")
    server.execute("grant select on all tables in schema public to reader", name)
    with Records(server.address(name, "reader")) as records:
        assert list(records.runs()) == [run]
    with pytest.raises(StoreError, match="may not be used so by reader"):
        Store(server.address(name, "reader"))


def test_a_full_disk_of_the_server_is_one_of_ours() -> None:
    class Full(Exception):
        sqlstate = "53100"

    from sqlalchemy.exc import OperationalError

    place = Place.at("postgresql://me@example.org/runs")
    assert place.url is not None
    error = _postgres.PostgresServer(place.url, str(place)).explained(OperationalError("insert", {}, Full()))
    assert isinstance(error, DiskError)
    assert "the server's disk is full" in error.what


def test_text_that_no_database_takes_as_a_name_is_kept_all_the_same(database: str) -> None:
    with Store(database) as store:
        run = begin(store).id
        store.note_request(asked(run, 0))
        store.drop_request(run, "q0", "the endpoint said \x00 and \ud800")
        assert next(store.requests(run)).dropped == "the endpoint said ? and ?"
        store.note_event(Event(run=run, kind="k", data={"text": "\x00 \ud800"}))
        assert next(store.events(run)).data == {"text": "\x00 \ud800"}
