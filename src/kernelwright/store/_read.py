"""Reading a store: page by page, so that a long run needs no more memory than a short one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, Table, exists, func, select

from kernelwright.store import _schema
from kernelwright.store import _tables as tables
from kernelwright.store._database import database
from kernelwright.store._error import StoreError, told
from kernelwright.store._owner import Owner
from kernelwright.store._place import Place
from kernelwright.store._records import (
    FINAL,
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
    Sitting,
    Spent,
    Values,
    Worth,
)
from kernelwright.store._rows import made

PAGE = 64
Record = TypeVar("Record")
Condition = ColumnElement[bool]


class Records:
    """What a store holds, for who only reads. A context manager.

    Reading never makes a writer wait. What is yielded is read in pages, each at its own moment: rows that come
    meanwhile are seen too.
    """

    def __init__(self, place: Place | Path | str) -> None:
        self.place = Place.at(place)
        self._database = database(self.place)
        self._database.check_there()
        self._begin_reading()
        try:
            with self._reading() as connection:
                self._check(connection)
        except BaseException:
            self.close()
            raise

    def _begin_reading(self) -> None:
        self._readers: Engine = self._database.reader()
        self._mine = threading.local()
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def _check(self, connection: Connection) -> None:
        form = _schema.found(connection, self.place)
        if form == _schema.NOTHING:
            raise _schema.no_store(self.place)
        if form < _schema.FORM:
            self._read_a_copy(connection)

    def _read_a_copy(self, connection: Connection) -> None:
        """An older store is left as it is by who only reads: a copy of it is brought up to date."""
        self._copy = tempfile.TemporaryDirectory(prefix="kernelwright-")
        copy = self._database.copied(connection, Path(self._copy.name) / "copy.db")
        writer = copy.writer()
        with told(copy), writer.begin() as writing:
            _schema.bring_up_to_date(writing, self.place, copy.be_alone)
        writer.dispose()
        self._readers = copy.reader()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._readers.dispose()
        if self._copy is not None:
            with suppress(OSError):
                self._copy.cleanup()

    @contextmanager
    def at_one_moment(self) -> Iterator[Connection]:
        """What is read inside is what the store held when the first of it was read."""
        with self._reading() as connection:
            before = getattr(self._mine, "connection", None)
            self._mine.connection = connection
            try:
                yield connection
            finally:
                self._mine.connection = before

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Who is in the middle of writing sees what he has written."""
        own: Connection | None = getattr(self._mine, "connection", None)
        if own is not None:
            yield own
            return
        with told(self._database), self._readers.connect() as connection:
            yield connection

    def _all(self, query: Select[Any]) -> list[Row[Any]]:
        with self._reading() as connection:
            return list(connection.execute(query).all())

    def _one(self, query: Select[Any]) -> Row[Any] | None:
        with self._reading() as connection:
            return connection.execute(query.limit(1)).first()

    def _stream(self, kind: type[Record], table: Table, *conditions: Condition, after: int = 0) -> Iterator[Record]:
        query = select(table).where(*conditions).order_by(table.c.seq).limit(PAGE)
        while page := self._all(query.where(table.c.seq > after)):
            yield from (made(kind, row) for row in page)
            after = page[-1].seq

    # Runs

    def writer(self, run: str) -> Owner | None:
        """Who may write into this run now; one that says RUNNING while nobody may was interrupted."""
        with self._reading() as connection:
            return self._database.holder(connection, run)

    def about(self) -> dict[str, str]:
        """What the store is: its database, its form, who brought it into that."""
        with self._reading() as connection:
            told_of = {name: _schema.written(connection, name) or "" for name in ("form", "written by")}
            return {"database": self._database.about(connection), **told_of}

    def runs(self) -> Iterator[Run]:
        return self._stream(Run, tables.runs)

    def run(self, name: str) -> Run:
        """The run of this id, or the only one whose id begins so."""
        rows = self._all(select(tables.runs).where(tables.runs.c.id.startswith(name, autoescape=True)).limit(3))
        exact = [row for row in rows if row.id == name] or rows
        if len(exact) != 1:
            what = f"there is no run {name!r}" if not rows else f"several runs begin with {name!r}"
            raise StoreError(f"{what} in {self.place}", self._latest())
        return made(Run, exact[0])

    def _latest(self) -> str:
        runs = tables.runs
        ids = [row.id for row in self._all(select(runs.c.id).order_by(runs.c.seq.desc()).limit(5))]
        return f"the latest are: {', '.join(ids)}" if ids else "it holds no run yet"

    def sittings(self, run: str) -> list[Sitting]:
        """When somebody worked on this run; between them nobody did."""
        return list(self._stream(Sitting, tables.sittings, tables.sittings.c.run == run))

    def task(self, hash: str) -> Values | None:
        """The wire form of a task."""
        row = self._one(select(tables.tasks.c.wire).where(tables.tasks.c.hash == hash))
        return None if row is None else row.wire

    # What was asked, answered and born

    def requests(self, run: str) -> Iterator[Asked]:
        return self._stream(Asked, tables.requests, tables.requests.c.run == run)

    def unanswered(self, run: str) -> Iterator[Asked]:
        """Noted, perhaps sent, and without a reply: whoever resumes a run must not take them for new."""
        asked = tables.requests
        return self._stream(Asked, asked, asked.c.run == run, asked.c.dropped.is_(None), ~_answer())

    def unused(self, run: str) -> Iterator[Asked]:
        """Answered, but of the reply nothing was made yet: neither a candidate nor a reason to drop it."""
        asked = tables.requests
        return self._stream(Asked, asked, asked.c.run == run, asked.c.dropped.is_(None), _answer(), ~_child())

    def replies(self, run: str, request: str | None = None) -> Iterator[Answered]:
        replies = tables.replies
        wanted = [replies.c.request == request] if request is not None else []
        return self._stream(Answered, replies, replies.c.run == run, *wanted)

    def candidate(self, hash: str) -> Candidate | None:
        row = self._one(select(tables.candidates).where(tables.candidates.c.hash == hash))
        return None if row is None else made(Candidate, row)

    def births(self, run: str, candidate: str | None = None) -> Iterator[Birth]:
        births = tables.births
        wanted = [births.c.candidate == candidate] if candidate is not None else []
        return self._stream(Birth, births, births.c.run == run, *wanted)

    # What was judged

    def unjudged(self, run: str, *, device: str | None = None, judge: str | None = None) -> Iterator[Birth]:
        """Candidates of the run without a usable verdict on its task (by this judge, on this device); each once."""
        births, verdicts = tables.births, tables.verdicts
        task = select(tables.runs.c.task).where(tables.runs.c.id == run).scalar_subquery()
        on = [verdicts.c.candidate == births.c.candidate, verdicts.c.task == task, verdicts.c.used]
        on += _by(device, judge)
        twin = births.alias()
        earlier = exists().where(twin.c.run == run, twin.c.candidate == births.c.candidate, twin.c.seq < births.c.seq)
        return self._stream(Birth, births, births.c.run == run, ~exists().where(*on), ~earlier)

    def verdicts(self, run: str) -> Iterator[Judged]:
        """What was measured for this run, in order."""
        return self._stream(Judged, tables.verdicts, tables.verdicts.c.run == run)

    def judged(
        self, candidate: str, task: str, *, device: str | None = None, judge: str | None = None
    ) -> Iterator[Judged]:
        """Every usable measurement of a candidate on a task, whichever run paid for it."""
        verdicts = tables.verdicts
        same = [verdicts.c.candidate == candidate, verdicts.c.task == task, verdicts.c.used]
        return self._stream(Judged, verdicts, *same, *_by(device, judge))

    # What was learned

    def moves(self, run: str) -> Iterator[Move]:
        return self._stream(Move, tables.moves, tables.moves.c.run == run)

    def genomes(self, backend: str | None = None) -> Iterator[Genome]:
        """Of all runs, in the order in which they were written."""
        wanted = [tables.genomes.c.backend == backend] if backend is not None else []
        return self._stream(Genome, tables.genomes, *wanted)

    def outcomes(self, genome: str, backend: str) -> Iterator[Outcome]:
        outcomes = tables.outcomes
        return self._stream(Outcome, outcomes, outcomes.c.genome == genome, outcomes.c.backend == backend)

    def worth(self, backend: str) -> list[Worth]:
        """What every prompt of a backend that was used has brought, over all runs."""
        gain, genome = tables.outcomes.c.gain, tables.outcomes.c.genome
        sums = [func.count().label("uses"), func.count(gain).label("accepted")]
        sums += [func.sum(gain).label("total"), func.sum(gain * gain).label("squares")]
        query = select(genome, *sums).where(tables.outcomes.c.backend == backend).group_by(genome).order_by(genome)
        return [_worth(backend, row) for row in self._all(query)]

    def events(self, run: str, *, after: int = 0) -> Iterator[Event]:
        """In order; `after` is the `seq` of the last one already seen."""
        return self._stream(Event, tables.events, tables.events.c.run == run, after=after)

    def final(self, run: str) -> Values | None:
        """What was noted of the measurement at the end; None where a run has not come to its end."""
        told = None
        for event in self.events(run):
            told = event.data if event.kind == FINAL else told
        return told

    # What was spent

    def spent(self, run: str) -> Spent:
        return Spent(
            **self._sums(run, tables.requests, requests=func.count()),
            **self._sums(
                run,
                tables.replies,
                replies=func.count(),
                tokens_in=_total(tables.replies.c.tokens_in),
                tokens_out=_total(tables.replies.c.tokens_out),
                dollars=_total(tables.replies.c.dollars) * 1.0,
                unpriced=func.count() - func.count(tables.replies.c.dollars),
            ),
            **self._sums(
                run,
                tables.verdicts,
                tables.verdicts.c.used,
                evaluations=func.count(tables.verdicts.c.candidate.distinct()),
                judge_seconds=_total(tables.verdicts.c.seconds) * 1.0,
            ),
            **self._sums(
                run, tables.sittings, wall_seconds=_total(tables.sittings.c.seen - tables.sittings.c.noted) * 1.0
            ),
        )

    def _sums(self, run: str, table: Table, *conditions: Condition, **columns: Any) -> dict[str, Any]:
        named = [column.label(name) for name, column in columns.items()]
        row = self._one(select(*named).select_from(table).where(table.c.run == run, *conditions))
        assert row is not None
        return dict(row._mapping)


def _answer() -> Condition:
    asked, replies = tables.requests.c, tables.replies.c
    return exists().where(replies.run == asked.run, replies.request == asked.id)


def _child() -> Condition:
    asked, births = tables.requests.c, tables.births.c
    return exists().where(births.run == asked.run, births.request == asked.id)


def _by(device: str | None, judge: str | None) -> list[Condition]:
    verdicts = tables.verdicts.c
    wanted = ((verdicts.device, device), (verdicts.judge, judge))
    return [column == value for column, value in wanted if value is not None]


def _total(column: ColumnElement[Any]) -> Any:
    return func.coalesce(func.sum(column), 0)


def _worth(backend: str, row: Row[Any]) -> Worth:
    number = row.accepted
    mean = row.total / number if number else None
    variance = max(0.0, row.squares - number * mean * mean) / (number - 1) if mean is not None and number > 1 else None
    return Worth(genome=row.genome, backend=backend, uses=row.uses, accepted=number, mean=mean, variance=variance)
