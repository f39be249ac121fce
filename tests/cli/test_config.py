"""`config`, `optimize --config`, `--set`, `--print-config`, and what `show` tells of a run's configuration."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kernelwright.config import Configuration, to_toml
from kernelwright.store import Records
from kernelwright.tasks import Task
from tests.cli.conftest import Invoke
from tests.cli.court import Court, answers
from tests.judge.texts import TASKS

TASK = TASKS / "relu.py"


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that names ready kernels, and a court."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kernelwright.cli._search.open_fleet", lambda address: Court())
    (tmp_path / "ready").mkdir()
    for number, text in enumerate(answers(1.2, 1.5, 1.7)):
        (tmp_path / "ready" / f"{number}.md").write_text(text)
    file = tmp_path / "search.toml"
    file.write_text('[model]\nname = "script/ready"\n[budget]\nevaluations = 2\n[search]\nin_flight = 1\n')
    return file


def test_the_defaults_are_a_file_to_begin_with(invoke: Invoke, tmp_path: Path) -> None:
    printed = invoke("config").stdout
    assert printed == to_toml(Configuration())
    (tmp_path / "search.toml").write_text(printed)
    assert invoke("config", tmp_path / "search.toml").stdout == printed


def test_options_are_heard_after_the_file(invoke: Invoke, ready: Path) -> None:
    words = ["--config", ready, "--evaluations", "3", "--set", "model.tries=2", "--set", "rows=64", "--print-config"]
    found = tomllib.loads(invoke("optimize", TASK, *words).stdout)
    assert (found["budget"]["evaluations"], found["search"]["in_flight"]) == (3, 1)
    assert (found["model"]["name"], found["model"]["tries"]) == ("script/ready", 2)
    assert found["task"]["constants"] == {"rows": "64"}
    assert not Path("kernelwright-runs.db").exists()


def test_a_file_alone_makes_a_search_and_the_run_keeps_it(invoke: Invoke, ready: Path) -> None:
    result = invoke("optimize", TASK, "--config", ready, "--without", "gradients", "--backend", "cpp")
    assert result.exit_code == 0, result.output
    assert "the budget of 2 evaluations is used up" in result.output
    run = result.output.split("run ")[1].split()[0]
    shown = invoke("show", run).output
    assert '[model] name = "script/ready"' in shown
    assert "[budget] evaluations = 2\n" in shown
    assert 'without = ["gradients"]' in shown


def test_a_bare_name_is_a_constant_of_the_task_and_a_dotted_one_a_setting(invoke: Invoke, ready: Path) -> None:
    task = Path("task.py")
    task.write_text(TASK.read_text().replace("import torch\n", "import torch\n\nbudget = 3\n", 1))
    result = invoke(
        "optimize", task, "--config", ready, "--set", "budget=7", "--set", "budget.evaluations=1", "--store", "r.db"
    )
    assert result.exit_code == 0, result.output
    with Records("r.db") as records:
        (run,) = records.runs()
        wire = records.task(run.task)
        assert wire is not None
        assert "budget = 7" in Task.from_wire(wire).source
        assert records.spent(run.id).evaluations == 1


@pytest.mark.parametrize("command", [["config"], ["optimize", TASK, "--config"]])
def test_a_file_with_a_slip_is_refused_by_name(invoke: Invoke, tmp_path: Path, command: list[object]) -> None:
    slip = tmp_path / "slip.toml"
    slip.write_text("[budget]\nevalutions = 3\n")
    result = invoke(*command, slip)
    assert result.exit_code == 2
    assert "slip.toml: there is no 'evalutions' in [budget]" in result.stderr
    assert "did you mean 'evaluations'?" in result.stderr
