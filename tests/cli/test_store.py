"""`store`: what a store is, and runs from one to another, as commands; a store on a server under every command."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.engine import archive_of
from kernelwright.store import ENVIRONMENT, Place, Records, Store
from kernelwright.tasks import load_task
from tests.cli.conftest import Invoke
from tests.judge.texts import TASKS
from tests.postgres import Server
from tests.report.page.runs import Leaving, played

RECORDED = Path(__file__).parents[2] / "examples" / "replays" / "rotary.db"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return shutil.copy(RECORDED, tmp_path / "recorded.db")


@pytest.fixture
def file(invoke: Invoke, recorded: Path, tmp_path: Path) -> Path:
    result = invoke("store", "export", "2026", tmp_path / "run.kwr", "--store", recorded)
    assert result.exit_code == 0, result.output
    assert "kernelwright store import" in result.output
    return tmp_path / "run.kwr"


def test_a_run_is_exported_and_imported_once(invoke: Invoke, file: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    result = invoke("store", "import", file, "--store", there)
    assert result.exit_code == 0
    assert "kernelwright show 2026" in result.output
    assert "nothing was changed" in invoke("store", "import", file, "--store", there).output
    assert invoke("replay", "2026", "--store", there).exit_code == 0


def test_an_exported_run_is_a_store_that_can_be_read(invoke: Invoke, file: Path, recorded: Path) -> None:
    before = file.read_bytes()
    assert invoke("show", "2026", "--store", file).output == invoke("show", "2026", "--store", recorded).output
    assert invoke("replay", "2026", "--store", file).exit_code == 0
    assert file.read_bytes() == before


def test_a_store_says_what_it_is(invoke: Invoke, tmp_path: Path) -> None:
    played(tmp_path / "runs.db", load_task(TASKS / "relu.py"), fleet=Leaving(after=2), evaluations=5)
    said = invoke("store", "info", "--store", tmp_path / "runs.db").output
    assert "SQLite" in said
    assert "form 2" in said
    assert "1 runs, 1 running" in said
    assert "interrupted, nobody is writing" in said


def test_an_older_store_is_brought_up_to_date_when_it_is_told_so(invoke: Invoke, recorded: Path) -> None:
    assert recorded.read_bytes() == RECORDED.read_bytes()
    assert "has form 2 now; it had 1" in invoke("store", "migrate", "--store", recorded).output
    assert "nothing was changed" in invoke("store", "migrate", "--store", recorded).output
    assert invoke("replay", "2026", "--store", recorded).exit_code == 0


@pytest.mark.parametrize(
    ("words", "names", "fix"),
    [
        (["export", "x", "new.kwr"], ["there is no run 'x'"], "the latest are"),
        (["export", "2026", "recorded.db"], ["recorded.db is there already"], "name another file"),
        (["import", "none.kwr"], ["there is no store at none.kwr"], "check the path"),
        (["import", "recorded.db", "--store", "new.db"], ["not a run that was exported"], "store export"),
        (["import", "diary.txt", "--store", "new.db"], ["no SQLite database"], "left as it is"),
        (["info", "--store", "none.db"], ["there is no store"], "a run makes one"),
        (["migrate", "--store", "none.db"], ["there is no store"], "a run makes one"),
        (["info", "--store", "mysql://me:sesame@example.org/runs"], ["neither a file nor"], "postgresql://USER@"),
        (["info", "--store", "postgresql://me:sesame@example.org"], ["names no database"], "postgresql://USER@"),
    ],
)
def test_what_cannot_be_done_is_said(
    cannot_judge: Callable[..., str],
    recorded: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    names: list[str],
    fix: str,
) -> None:
    monkeypatch.chdir(recorded.parent)
    Path("diary.txt").write_text("a diary, and not a short one\n" * 100)
    where = [] if "--store" in words else ["--store", "recorded.db"]
    assert "sesame" not in cannot_judge("store", *words, *where, names=names, fix=fix)
    assert sorted(path.name for path in Path().iterdir()) == ["diary.txt", "recorded.db"]


def test_without_the_extra_a_server_is_out_of_reach(
    cannot_judge: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    where = "postgresql://me@example.org/runs"
    cannot_judge("runs", "--store", where, names=["needs psycopg"], fix="pip install 'kernelwright[postgres]'")


# On a server


def archived(place: Path | str) -> object:
    with Records(place) as records:
        (run,) = records.runs()
        return archive_of(records, run.id).to_json()


@pytest.mark.postgres
def test_a_search_that_moves_onto_a_server_is_the_same_there(
    invoke: Invoke, file: Path, recorded: Path, database: str, tmp_path: Path
) -> None:
    assert invoke("store", "import", file, "--store", database).exit_code == 0
    assert "nothing was changed" in invoke("store", "import", file, "--store", database).output
    assert archived(database) == archived(recorded)
    for words in (["show", "2026"], ["runs"], ["prompts", "list"], ["best", "2026"]):
        here, there = (invoke(*words, "--store", store).output for store in (recorded, database))
        assert here == there
        assert here
    pages = []
    for name, store in (("here", recorded), ("there", database)):
        invoke("report", "2026", "--store", store, "--out", tmp_path / f"{name}.html")
        pages.append((tmp_path / f"{name}.html").read_text())
    assert pages[0] == pages[1]
    result = invoke("replay", "2026", "--store", database)
    assert result.exit_code == 0, result.output
    assert "the same end as recorded: every cell, every kernel, every number" in result.output
    back = invoke("store", "export", "2026", tmp_path / "back.kwr", "--store", database)
    assert back.exit_code == 0
    assert "nothing was changed" in invoke("store", "import", tmp_path / "back.kwr", "--store", recorded).output


@pytest.mark.postgres
def test_a_server_from_the_environment_is_used_and_its_password_is_nowhere(
    invoke: Invoke, server: Server, database: str, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Place.at(database).url.database  # type: ignore[union-attr]
    server.execute("create role searcher login password 'sesame'")
    server.execute(f"alter database {name} owner to searcher")
    address = f"postgresql://searcher@127.0.0.1:{server.port}/{name}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ENVIRONMENT, address.replace("searcher@", "searcher:sesame@"))
    result = invoke("replay", "2026", "--store", recorded, "--out", address, "--json")
    assert result.exit_code == 0, result.output
    said = [result, *(invoke(*words) for words in (["runs"], ["show", "2026"], ["store", "info"], ["--help"]))]
    said += [invoke("compare", "all"), invoke("best", "2026", "--certificate", "c.json"), invoke("runs", "--help")]
    assert "PostgreSQL 1" in said[3].output
    assert f"--store {address}" in result.output
    assert [one.exit_code for one in said] == [0] * len(said), [one.output for one in said]
    assert all("sesame" not in one.output for one in said)
    assert "sesame" not in Path("c.json").read_text()
    for (table,) in server.execute("select tablename from pg_tables where schemaname = 'public'", name):
        assert "sesame" not in str(server.execute(f"select t::text from {table} t", name))


@pytest.mark.postgres
def test_who_writes_on_a_server_is_said(invoke: Invoke, cannot_judge: Callable[..., str], database: str) -> None:
    run = played(database, load_task(TASKS / "relu.py"), fleet=Leaving(after=2), evaluations=5)
    assert "interrupted" in invoke("runs", "--store", database).output
    with Store(database) as store:
        store.resume_run(run)
        assert "running" in invoke("runs", "--store", database).output
        names = [f"run {run} in postgresql://", "is in use by process"]
        words = ["resume", run, "--model", "mailbox/mail", "--store", database]
        cannot_judge(*words, names=names, fix="reading is possible")
