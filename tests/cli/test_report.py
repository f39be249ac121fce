"""`report`: where the page goes, and what is said when there is none to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.tasks import load_task
from tests.cli.conftest import Invoke
from tests.judge.texts import TASKS
from tests.report.page.reader import Reader
from tests.report.page.runs import played


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "runs.db"
    played(path, load_task(TASKS / "relu.py"))
    return path


def run_in(invoke: Invoke, store: Path) -> str:
    return next(word for word in invoke("runs", "--store", store).output.split() if word.startswith("20"))


def test_a_page_is_written_where_it_was_asked_for(invoke: Invoke, store: Path, tmp_path: Path) -> None:
    run, place = run_in(invoke, store), tmp_path / "deep" / "page.html"
    result = invoke("report", run[:13], "--store", store, "--out", place)
    assert result.exit_code == 0, result.output
    assert str(place) in result.output
    advice = Reader(place.read_text()).root.one("section", id="advice")
    assert " of " in advice.rows()[0][-1], "what the search believes of its advice is told"


def test_a_page_bears_the_name_of_its_run(invoke: Invoke, store: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_in(invoke, store)
    invoke("report", run, "--store", store)
    assert (tmp_path / f"{run}.html").is_file()


def test_reading_leaves_the_store_as_it_was(invoke: Invoke, store: Path, tmp_path: Path) -> None:
    before = store.read_bytes()
    invoke("report", "20", "--store", store, "--out", tmp_path / "page.html")
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "names", "fix"),
    [
        (["nosuch"], ["there is no run 'nosuch'"], "the latest are"),
        (["20", "--out", "/dev/null/x"], ["/dev/null/x"], ""),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    cannot_judge: Callable[..., str], store: Path, arguments: list[str], names: list[str], fix: str
) -> None:
    cannot_judge("report", *arguments, "--store", store, names=names, fix=fix)


def test_without_a_store_there_is_no_page(cannot_judge: Callable[..., str], tmp_path: Path) -> None:
    cannot_judge("report", "1", "--store", tmp_path / "none.db", names=["there is no store"], fix="a run makes one")
