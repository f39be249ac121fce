"""Writing a store: every verb is a transaction, and what has returned is on the disk, here or on the server."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import Connection, Table, Update, bindparam, func, insert, select, update

from kernelwright.store import _schema
from kernelwright.store import _tables as tables
from kernelwright.store._database import database
from kernelwright.store._error import DiskError, StoreError, told
from kernelwright.store._owner import Owner
from kernelwright.store._place import Place
from kernelwright.store._read import Condition, Records
from kernelwright.store._records import (
    Answered,
    Asked,
    Birth,
    Candidate,
    Event,
    Genome,
    Judged,
    Move,
    Outcome,
    Run,
    State,
    Values,
)
from kernelwright.store._rows import add

INFRA = "INFRA"


class Store(Records):
    """The records of runs, with the right to write them. A context manager; threads may share it.

    Args:
        place: The file, or a server's database; made where there is none, brought up to date where it is older.

    Attributes:
        left_by: Who wrote into this file before and ended without closing, if somebody did.
    """

    def __init__(self, place: Place | Path | str) -> None:
        self.place = Place.at(place)
        self._turn = threading.RLock()
        self._claimed: set[str] = set()
        self._database = database(self.place)
        self.left_by: Owner | None = self._database.take()
        self._writer = self._database.writer()
        self._begin_reading()
        try:
            with self._writing() as connection:
                _schema.bring_up_to_date(connection, self.place, self._database.be_alone)
                _schema.break_seal(connection)
            self._database.reserve()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def close(self) -> None:
        super().close()
        self._writer.dispose()
        self._database.release()

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is written inside is kept as one: all of it or, where something is raised, nothing."""
        with self._writing():
            yield

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._turn:
            own: Connection | None = getattr(self._mine, "connection", None)
            if own is not None:
                with told(self._database):
                    yield own
                return
            with told(self._database), self._writer.begin() as connection:
                self._database.take_turn(connection)
                self._mine.connection = connection
                try:
                    yield connection
                finally:
                    self._mine.connection = None

    def _claim(self, run: str) -> None:
        """One program writes into a run. Asked for before a turn is taken: nobody waits for a run meanwhile."""
        with self._turn:
            if run in self._claimed:
                return
            own: Connection | None = getattr(self._mine, "connection", None)
            with told(self._database), nullcontext(own) if own is not None else self._writer.begin() as connection:
                self._database.claim(connection, run)
            self._claimed.add(run)

    # Runs

    def begin_run(self, *, task: str, wire: Values, settings: Values, versions: Values, machine: Values) -> Run:
        """`task` is the hash of the task whose wire form this is."""
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
        run = Run(id=name, task=task, settings=settings, versions=versions, machine=machine)
        self._claim(name)
        with self._writing() as connection:
            if self.task(task) is None:
                connection.execute(insert(tables.tasks).values(hash=task, wire=wire))
            add(connection, tables.runs, run)
            _sit_down(connection, name)
            return self.run(name)

    def resume_run(self, name: str) -> Run:
        """The run of this id, or the only one whose id begins so; it is running again."""
        found = self.run(name)
        self._claim(found.id)
        with self._writing() as connection:
            _set_state(connection, found.id, State.RUNNING, "")
            _sit_down(connection, found.id)
            return self.run(found.id)

    def end_run(self, run: str, state: State, reason: str = "") -> None:
        with self._for(run) as connection:
            _set_state(connection, run, state, reason)

    # What was asked, answered and born

    def note_request(self, request: Asked) -> bool:
        """Before it is sent. False where it was noted before: then it may have been sent, too."""
        asked = tables.requests.c
        with self._for(request.run) as connection:
            if _known(connection, tables.requests, asked.run == request.run, asked.id == request.id):
                return False
            add(connection, tables.requests, request)
            return True

    def drop_request(self, run: str, request: str, why: str) -> None:
        """Nothing more is expected of it: no reply will come, or none that can be used."""
        asked = tables.requests
        with self._for(run) as connection:
            connection.execute(update(asked).where(asked.c.run == run, asked.c.id == request).values(dropped=why))

    def keep_reply(self, reply: Answered) -> None:
        """Before it is used. A second reply to one request was paid for as well, and is kept.

        When the disk is full it is kept in the room that was reserved for it; the error is raised all the same.
        """
        try:
            self._add_reply(reply)
        except DiskError:
            if self._database.give_room():
                self._add_reply(reply)
            raise

    def _add_reply(self, reply: Answered) -> None:
        with self._for(reply.run) as connection:
            add(connection, tables.replies, reply)

    def keep_candidate(self, candidate: Candidate, birth: Birth) -> bool:
        """The text once, how it came about every time. False where the text was known."""
        with self._for(birth.run) as connection:
            new = not _known(connection, tables.candidates, tables.candidates.c.hash == candidate.hash)
            if new:
                add(connection, tables.candidates, candidate)
            add(connection, tables.births, birth)
            return new

    # What was judged

    def keep_verdict(self, judged: Judged) -> bool:
        """Before it is used. False where this measurement was kept before: verdicts may arrive twice."""
        if judged.status == INFRA:
            raise ValueError("an infrastructure fault is no verdict on a candidate; note it as an event")
        verdicts = tables.verdicts.c
        same = (verdicts.run == judged.run, verdicts.job == judged.job, verdicts.judge == judged.judge)
        with self._for(judged.run) as connection:
            if _known(connection, tables.verdicts, *same):
                return False
            told_by = {"status": judged.status, "accepted": judged.accepted, "seconds": judged.seconds}
            add(connection, tables.verdicts, judged, **told_by)
            return True

    # What was learned

    def note_move(self, move: Move) -> None:
        with self._for(move.run) as connection:
            add(connection, tables.moves, move)

    def keep_genome(self, genome: Genome) -> bool:
        """False where this backend has it already; its first parent stays."""
        genomes = tables.genomes.c
        with self._writing() as connection:
            if _known(connection, tables.genomes, genomes.backend == genome.backend, genomes.hash == genome.hash):
                return False
            add(connection, tables.genomes, genome)
            return True

    def keep_outcome(self, outcome: Outcome) -> None:
        with self._for(outcome.run) as connection:
            add(connection, tables.outcomes, outcome)

    def note_event(self, event: Event) -> None:
        with self._for(event.run) as connection:
            add(connection, tables.events, event)

    @contextmanager
    def _for(self, run: str) -> Iterator[Connection]:
        """Writes for a run; the sitting lasts at least until now."""
        self._claim(run)
        with self._writing() as connection:
            changed = connection.execute(_LAST_SEEN, {"of": run, "now": time.time()})
            if not changed.rowcount:
                raise StoreError(f"there is no run {run!r} in {self.place}", "begin one first")
            yield connection


def bring_up_to_date(place: Place | Path | str) -> tuple[int, int]:
    """A store that is there, made one of this version; its form before and now."""
    at = Place.at(place)
    known = database(at)
    known.check_there()
    reader = known.reader()
    try:
        with told(known), reader.connect() as connection:
            before = _schema.found(connection, at)
    finally:
        reader.dispose()
    if before == _schema.NOTHING:
        raise _schema.no_store(at)
    if before < _schema.FORM:
        Store(at).close()
    return before, _schema.FORM


def _last_seen() -> Update:
    sittings = tables.sittings
    last = select(func.max(sittings.c.seq)).where(sittings.c.run == bindparam("of")).scalar_subquery()
    return update(sittings).where(sittings.c.seq == last).values(seen=bindparam("now"))


_LAST_SEEN = _last_seen()


def _sit_down(connection: Connection, run: str) -> None:
    now = time.time()
    connection.execute(insert(tables.sittings).values(run=run, noted=now, seen=now))


def _set_state(connection: Connection, run: str, state: State, reason: str) -> None:
    runs = tables.runs
    connection.execute(update(runs).where(runs.c.id == run).values(state=state, reason=reason))


def _known(connection: Connection, table: Table, *conditions: Condition) -> bool:
    return connection.execute(select(1).select_from(table).where(*conditions).limit(1)).first() is not None
