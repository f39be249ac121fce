"""`optimize` where nobody is named to write: the built-in synthesiser does, unless a model is at hand."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kernelwright.propose import asks_a_model
from kernelwright.store import SEED, Records
from tests.cli.conftest import Invoke
from tests.judge.texts import RELU, TASKS

TASK = TASKS / "relu.py"
SMALL = ("--evaluations", 2, "--in-flight", 1)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def printed(invoke: Invoke, *options: object) -> dict:
    result = invoke("optimize", TASK, *options, "--print-config")
    assert result.exit_code == 0, result.output
    return tomllib.loads(result.stdout)


def test_with_no_model_and_no_key_the_synthesiser_writes(invoke: Invoke) -> None:
    assert printed(invoke)["model"]["name"] == "builtin"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"])
def test_with_a_key_somebody_must_be_named(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "x")
    assert printed(invoke)["model"]["name"] == "none"
    assert "nobody is named to write the kernels" in invoke("optimize", TASK).stderr


@pytest.mark.parametrize("options", [("--model", "openai/a"), ("--set", "model.name=openai/a")])
def test_who_is_named_writes(invoke: Invoke, options: tuple[str, ...]) -> None:
    assert printed(invoke, *options)["model"]["name"] == "openai/a"


def test_what_it_cannot_write_is_not_begun(invoke: Invoke) -> None:
    assert printed(invoke, "--backend", "cuda")["model"]["name"] == "none"


@pytest.mark.parametrize(
    ("model", "is_one"),
    [
        *((name, False) for name in ("builtin", "script/ready", "replay", "builtin:2,script/ready:1")),
        *((name, True) for name in ("openai/a", "local/a.gguf", "mailbox/m", "builtin:1,openai/a:2")),
    ],
)
def test_ready_kernels_and_programs_are_no_models(model: str, is_one: bool) -> None:
    assert asks_a_model(model) is is_one


@pytest.mark.slow
def test_a_search_with_neither_says_who_writes_and_how_to_have_a_model(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("optimize", TASK, *SMALL, "--store", tmp_path / "runs.db")
    assert result.exit_code == 0, result.output
    first = result.stdout.splitlines()[0]
    assert "the built-in synthesiser writes" in first
    assert "--model openai/NAME" in first
    with Records(tmp_path / "runs.db") as records:
        (run,) = records.runs()
        assert {reply.model for reply in records.replies(run.id)} == {"builtin"}
        assert run.settings["config"]["model"]["name"] == "builtin", "a resume would not know who wrote"
        assert SEED not in {asked.kind for asked in records.requests(run.id)}, "it would seed itself"


@pytest.mark.slow
def test_its_kernels_seed_a_search_by_somebody_else(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "ready").mkdir()
    (tmp_path / "ready" / "0.py").write_text(RELU)
    asked = ("--model", f"script/{tmp_path / 'ready'}", "--seed-with", "builtin", *SMALL)
    result = invoke("optimize", TASK, *asked, "--store", tmp_path / "runs.db")
    assert result.exit_code == 0, result.output
    assert "seeded: 2 kernels that no model wrote" in result.stdout
    with Records(tmp_path / "runs.db") as records:
        (run,) = records.runs()
        replies = {reply.request: reply.model for reply in records.replies(run.id)}
        assert list(replies.values()) == ["builtin", "builtin", "script/0.py"]
        assert [asked.kind for asked in records.requests(run.id)][:2] == [SEED, SEED]
        assert records.spent(run.id).seeds == 2
    replayed = invoke("replay", run.id, "--store", tmp_path / "runs.db")
    assert "the same end as recorded" in replayed.stdout, replayed.output
    page = invoke("report", run.id, "--store", tmp_path / "runs.db", "--out", tmp_path / "run.html")
    assert page.exit_code == 0, page.output
    assert "2 seeds were judged beside it" in (tmp_path / "run.html").read_text()
