"""`kernelwright.optimize` from a program: what comes back, what is raised, what it costs to import."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernelwright
from kernelwright.config import ConfigError
from kernelwright.engine import RunError
from kernelwright.propose import ProposerError
from kernelwright.store import Records
from kernelwright.tasks import load_task
from tests.cli.court import Court
from tests.engine.world import Writer, climbing, kernel, speed_of
from tests.judge.texts import RELU, TASKS, relu

TASK = TASKS / "relu.py"
DOCS = Path(__file__).parents[1] / "docs" / "python.md"
HEAVY = ("torch", "numpy", "pydantic", "typer", "rich", "sqlalchemy", "openai", "kernelwright.engine")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_importing_the_package_costs_nothing() -> None:
    program = f"import sys, kernelwright; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="optimise"):
        kernelwright.optimise  # type: ignore[attr-defined]  # noqa: B018


def test_a_search_comes_back_with_a_kernel_its_worth_and_where_all_is_kept() -> None:
    heard: list[str] = []
    found = kernelwright.optimize(
        TASK,
        model=Writer(climbing),
        fleet=Court(),
        evaluations=5,
        in_flight=1,
        tell=lambda kind, data: heard.append(kind),
    )
    assert found.reason == "the budget of 5 evaluations is used up"
    assert found.source is not None
    assert found.speedup is not None
    assert math.isclose(found.speedup.ratio, speed_of(found.source), rel_tol=1e-6)
    assert found.speedup.low < found.speedup.ratio < found.speedup.high
    assert re.fullmatch(r"\d+\.\d\dx \[\d+\.\d\d, \d+\.\d\d\]", str(found.speedup))
    assert {"begun", "judged"} <= set(heard)
    with Records(found.store) as records:
        assert records.run(found.run).settings["config"]["budget"]["evaluations"] == 5


def test_a_loaded_task_a_file_and_settings_are_heard() -> None:
    Path("search.toml").write_text("[budget]\nevaluations = 9\n[search]\nmethod = 'refine'\n")
    found = kernelwright.optimize(
        load_task(TASK),
        model=Writer(climbing),
        fleet=Court(),
        config="search.toml",
        settings={"budget.evaluations": 3, "search.in_flight": 1},
        store="other.db",
    )
    with Records("other.db") as records:
        run = records.run(found.run)
        assert records.spent(run.id).evaluations == 3
        assert run.settings["search"] == "refine"


def test_nothing_accepted_is_no_kernel_and_no_speedup() -> None:
    wrong = Writer(lambda request, rng: kernel(-1.0, request.id))
    found = kernelwright.optimize(TASK, model=wrong, fleet=Court(), evaluations=1, in_flight=1)
    assert (found.source, found.speedup) == (None, None)


def test_what_cannot_be_meant_is_raised_before_anything_is_begun() -> None:
    with pytest.raises(ConfigError, match="no option 'evalutions'"):
        kernelwright.optimize(TASK, model="openai/a", evalutions=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="nobody is named"):
        kernelwright.optimize(TASK, backend="cuda")
    with pytest.raises(ProposerError, match="no model is called"):
        kernelwright.optimize(TASK, model="opnai/a")
    with pytest.raises(ConfigError, match="yet to be loaded"):
        kernelwright.optimize(load_task(TASK), model="openai/a", constants={"n": 3})
    assert not Path("kernelwright-runs.db").exists()


def test_a_run_that_breaks_off_says_how_to_go_on() -> None:
    def silent(request, rng):
        raise ProposerError("nobody is at home.", "Ring again.")

    with pytest.raises(RunError, match="nobody is at home") as caught:
        kernelwright.optimize(TASK, model=Writer(silent), fleet=Court())
    (note,) = caught.value.__notes__
    with Records("kernelwright-runs.db") as records:
        (run,) = records.runs()
    assert note == f"go on with: kernelwright resume {run.id} --store kernelwright-runs.db"


@pytest.mark.slow
def test_the_example_of_the_documentation_runs_with_the_real_judge(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    Path("ready").mkdir()
    for number, source in enumerate((relu("y[i] = 7;"), RELU)):
        Path(f"ready/{number}.py").write_text(source)
    Path("relu.py").write_text(TASK.read_text())
    exec(compile(example, str(DOCS), "exec"), {})
    out = capsys.readouterr().out
    assert "judged WRONG_VALUE" in out
    assert re.search(r"\d+\.\d\dx \[", out)
    assert Path("faster.py").read_text() == RELU
