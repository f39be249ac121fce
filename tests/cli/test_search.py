"""`optimize`, `resume`, `runs`, `show`, `best`: what they print, and what they say to those who made a mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.judge.texts import RELU, TASKS, relu

TASK = TASKS / "relu.py"


@pytest.mark.parametrize(
    ("arguments", "names", "fix"),
    [
        (["--model", "nosuch/x"], ["no model is called 'nosuch/x'"], "openai/NAME"),
        (["--model", "openai/x"], ["$OPENAI_API_KEY is not set"], "export OPENAI_API_KEY"),
        (["--model", "mailbox/m", "--evaluations", "0"], ["nothing to run on"], ""),
        (["--model", "mailbox/m", "--search", "beem"], ["did you mean beam"], ""),
        (["--model", "mailbox/m", "--without", "luck"], ["no mechanism 'luck'"], ""),
        (["--model", "mailbox/m", "--fleet", "moon"], ["no fleet 'moon'"], "say `here`"),
    ],
)
def test_a_search_that_cannot_be_is_told_before_anything_is_judged(
    cannot_judge: Callable[..., str], tmp_path: Path, monkeypatch, arguments: list[str], names: list[str], fix: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    cannot_judge("optimize", TASK, *arguments, names=names, fix=fix)


@pytest.mark.parametrize("command", [["runs"], ["show", "1"], ["best", "1"]])
def test_where_no_run_was_made_there_is_none_to_show(
    cannot_judge: Callable[..., str], tmp_path: Path, command: list[str]
) -> None:
    cannot_judge(*command, "--store", tmp_path / "none.db", names=["there is no store"], fix="a run makes one")


@pytest.mark.slow
def test_from_a_task_to_a_kernel(invoke: Invoke, tmp_path: Path) -> None:
    ready, store = tmp_path / "ready", tmp_path / "runs.db"
    ready.mkdir()
    for number, source in enumerate((relu("y[i] = 7;"), RELU)):
        (ready / f"{number}.py").write_text(source)
    result = invoke("optimize", TASK, "--model", f"script/{ready}", "--store", store, "--in-flight", "1")
    assert result.exit_code == 0, result.output
    assert "WRONG_VALUE" in result.output
    run = result.output.split("run ")[1].split()[0]
    assert run in invoke("runs", "--store", store).output
    assert "1 of 64 cells filled" in invoke("show", run, "--store", store).output
    invoke("best", run, "--store", store, "--out", tmp_path / "best.py")
    assert (tmp_path / "best.py").read_text() == RELU


@pytest.mark.slow
def test_a_search_that_finds_nothing_ends_with_one(invoke: Invoke, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.mkdir()
    (ready / "0.py").write_text(relu("y[i] = 7;"))
    result = invoke("optimize", TASK, "--model", f"script/{ready}", "--store", tmp_path / "runs.db")
    assert result.exit_code == 1
    assert "no kernel was accepted" in result.output
