"""Stores of other versions: older ones are brought up to date, or read from a copy; newer ones are refused."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from kernelwright.store import (
    Place,
    Records,
    Store,
    StoreError,
    _migrate,
    _schema,
    bring_up_to_date,
    export_run,
    import_run,
)
from kernelwright.store._database import database as opened
from kernelwright.store._tables import metadata
from tests.store.conftest import begin, birth, candidate, judged

RECORDINGS = Path(__file__).parents[2] / "examples" / "replays"
OLDER = RECORDINGS / "rotary.db"

NEXT = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "3", "2", None, None


def upgrade() -> None:
    op.add_column("runs", sa.Column("mood", sa.String))
    {more}
"""


@contextmanager
def connected(place: Place) -> Iterator[Connection]:
    writer = opened(place).writer()
    with writer.begin() as connection:
        yield connection
    writer.dispose()


@pytest.fixture
def one_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A version that knows one form more; what it does can be changed in this file."""
    revision = tmp_path / "one day" / "form_3.py"
    revision.parent.mkdir()
    revision.write_text(NEXT.format(more=""))
    monkeypatch.setattr(_migrate, "REVISIONS", (*_migrate.REVISIONS, revision.parent))
    return revision


def a_version_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_schema, "FORM", 3)


def test_the_form_is_the_last_revision() -> None:
    assert ScriptDirectory.from_config(_migrate.configuration()).get_heads() == [str(_schema.FORM)]


def test_revisions_lead_to_the_tables_of_this_version_and_keep_the_rows(place: Place) -> None:
    with connected(place) as connection:
        _migrate.upgrade(connection, "1")
        connection.execute(text("insert into about values ('form', '1'), ('written by', '0.1.0')"))
        connection.execute(text("insert into tasks values ('t1', '{}')"))
        values = "'r1', 't1', '{}', '{}', '{}', 'finished', '', 1.0"
        columns = "id, task, settings, versions, machine, state, reason, noted"
        connection.execute(text(f"insert into runs ({columns}) values ({values})"))
    with Store(place) as store:
        assert [run.id for run in store.runs()] == ["r1"]
        assert begin(store).task == "t1"
    with connected(place) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert {key["referred_table"] for key in inspect(connection).get_foreign_keys("verdicts")} == {"candidates"}
        assert _indexes(connection) == _named_indexes()


def _indexes(connection: Connection) -> set[str]:
    known = inspect(connection)
    return {str(index["name"]) for table in metadata.tables for index in known.get_indexes(table)} & _named_indexes()


def _named_indexes() -> set[str]:
    return {str(index.name) for table in metadata.tables.values() for index in table.indexes}


@pytest.mark.parametrize("recording", sorted(RECORDINGS.glob("*.db")), ids=lambda path: path.stem)
def test_a_recording_of_the_first_version_is_read_and_left_as_it_is(recording: Path, tmp_path: Path) -> None:
    folder = tmp_path / "replays"
    folder.mkdir()
    path = shutil.copy(recording, folder / "recorded.db")
    with Records(path) as records:
        (run,) = records.runs()
        assert list(records.verdicts(run.id))
        assert records.writer(run.id) is None
        assert records.about()["form"] == str(_schema.FORM)
    assert path.read_bytes() == recording.read_bytes()
    assert list(folder.iterdir()) == [path]


def test_a_file_of_the_first_version_is_brought_up_to_date_by_who_writes(tmp_path: Path) -> None:
    path = shutil.copy(OLDER, tmp_path / "runs.db")
    with Records(path) as records:
        (run,) = records.runs()
        before = [list(records.verdicts(run.id)), list(records.moves(run.id)), list(records.replies(run.id))]
    assert bring_up_to_date(path) == (1, _schema.FORM)
    assert bring_up_to_date(path) == (_schema.FORM, _schema.FORM)
    with Store(path) as store:
        assert before == [list(store.verdicts(run.id)), list(store.moves(run.id)), list(store.replies(run.id))]
    with sqlite3.connect(path) as file:
        assert dict(file.execute("select name, value from about"))["form"] == str(_schema.FORM)
        assert file.execute("select version_num from alembic_version").fetchall() == [(str(_schema.FORM),)]
        assert file.execute("pragma foreign_key_check").fetchall() == []
        rules = file.execute("select sql from sqlite_master where name = 'verdicts'").fetchone()[0]
    assert "REFERENCES runs" not in rules
    assert "UNIQUE (run, job, judge)" in rules


def test_nothing_is_brought_up_to_date_where_there_is_nothing(place: Place) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        bring_up_to_date(place)
    with pytest.raises(StoreError, match="there is no store at"):
        Records(place)


def test_an_older_store_is_brought_up_to_date_with_its_rows(
    place: Place, one_day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(place) as store:
        run = begin(store)
        store.keep_candidate(candidate(1), birth(run.id, 1))
        store.keep_verdict(judged(run.id, 1))
    a_version_later(monkeypatch)
    with Store(place) as store:
        assert store.run(run.id) == run
        assert len(list(store.verdicts(run.id))) == 1
    with connected(place) as connection:
        assert connection.execute(text("select mood from runs")).all() == [(None,)]
        assert _schema.written(connection, "form") == "3"
    Store(place).close()  # a second time there is nothing to do


def test_a_revision_that_fails_leaves_the_older_store(
    place: Place, one_day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(place).close()
    one_day.write_text(NEXT.format(more="raise RuntimeError('half way')"))
    with monkeypatch.context() as patch:
        a_version_later(patch)
        with pytest.raises(RuntimeError, match="half way"):
            Store(place)
    with Store(place) as store:
        begin(store)
    with connected(place) as connection:
        assert "mood" not in {column["name"] for column in inspect(connection).get_columns("runs")}


def test_a_newer_store_is_refused_and_left_as_it_is(place: Place) -> None:
    Store(place).close()
    with connected(place) as connection:
        connection.execute(text("update about set value = '99' where name = 'form'"))
    for kind in (Store, Records, bring_up_to_date):
        with pytest.raises(StoreError, match=r"newer version \(form 99"):
            kind(place)
    with connected(place) as connection:
        assert _schema.written(connection, "form") == "99"


def test_a_run_that_an_older_version_exported_is_taken_in(
    tmp_path: Path, one_day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "runs.db") as store:
        run = begin(store)
        export_run(store, run.id, tmp_path / "run.kwr")
    before = (tmp_path / "run.kwr").read_bytes()
    a_version_later(monkeypatch)
    assert import_run(tmp_path / "run.kwr", tmp_path / "later.db").new
    assert (tmp_path / "run.kwr").read_bytes() == before
    with Records(tmp_path / "later.db") as records:
        assert records.run(run.id) == run


@pytest.mark.postgres
def test_tables_are_not_changed_under_who_writes(database: str, one_day: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(database) as store:
        run = begin(store)
        a_version_later(monkeypatch)
        with pytest.raises(StoreError, match=r"older version, and is in use by process \d+") as caught:
            Store(database)
        assert "nobody writes" in caught.value.fix
    with pytest.raises(StoreError, match="older version") as caught:
        Records(database)
    assert f"kernelwright store migrate --store {Place.at(database)}" in caught.value.fix
    assert bring_up_to_date(database) == (2, 3)
    with Records(database) as records:
        assert records.run(run.id) == run
