"""`optimize`, `resume`, `runs`, `show`, `best`: what they print, and what they say to those who made a mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.archive import Entry
from kernelwright.judge import certificate, source_hash
from kernelwright.store import Birth, Candidate, Move, Store
from kernelwright.tasks import load_task
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
    assert "measuring" in result.output
    shown = invoke("show", run, "--store", store).output
    assert "1 of 64 cells filled" in shown
    assert "measured once more at the end: " in shown
    files = {"--out": tmp_path / "best.py", "--certificate": tmp_path / "best.json"}
    shown = invoke("best", run, "--store", store, *(part for pair in files.items() for part in pair))
    assert "measured at the end of the run on inputs nobody had seen" in shown.stderr
    assert files["--out"].read_text() == RELU
    assert certificate.read(files["--certificate"].read_text()).candidate == RELU
    verified = invoke("verify", files["--certificate"])
    assert "status CORRECT claimed, CORRECT found" in verified.output


def test_the_winner_of_a_run_that_was_left_has_no_certificate_yet(
    invoke: Invoke, cannot_judge: Callable[..., str], tmp_path: Path
) -> None:
    path, task = tmp_path / "runs.db", load_task(TASK)
    entry = Entry(source_hash(RELU), (0, 0, 0), 0.1, 0.0, 0.2)
    with Store(path) as store:
        run = store.begin_run(task=task.hash, wire=task.to_wire(), settings={}, versions={}, machine={}).id
        store.keep_candidate(
            Candidate(hash=entry.candidate, source=RELU, backend="cpp"), Birth(run=run, candidate=entry.candidate)
        )
        data = {"event": "offer", "entry": entry.to_json(), "came_of": None}
        store.note_move(Move(run=run, kind="offer", candidate=entry.candidate, data=data))
    shown = invoke("best", run, "--store", path)
    assert shown.stdout.strip() == RELU.strip()
    assert "has not come to its end" in shown.stderr
    wanted = ["best", run, "--store", path, "--certificate", tmp_path / "c.json"]
    cannot_judge(*wanted, names=["has no certificate"], fix=f"kernelwright resume {run}")


@pytest.mark.slow
def test_a_search_that_finds_nothing_ends_with_one(invoke: Invoke, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.mkdir()
    (ready / "0.py").write_text(relu("y[i] = 7;"))
    result = invoke("optimize", TASK, "--model", f"script/{ready}", "--store", tmp_path / "runs.db")
    assert result.exit_code == 1
    assert "no kernel was accepted" in result.output
