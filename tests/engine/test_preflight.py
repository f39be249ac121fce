"""Three candidates made from the reference, and the judge's opinion of them."""

from dataclasses import replace

import pytest

from kernelwright.engine._preflight import preflight, trials
from kernelwright.judge import Judge, Status
from kernelwright.tasks import load_task
from tests.judge.texts import TASKS

SEVERAL = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x, y):
        rows = self.linear(x) + y
        return rows, {"largest": rows.argmax(dim=1)}


def get_inputs():
    return [torch.randn(64, 32), torch.randn(64, 32)]


def get_init_inputs():
    return [32]
"""


def test_a_sound_task_is_judged_as_it_should_be(open_judge: Judge) -> None:
    task = load_task(TASKS / "relu.py")
    assert preflight(task, lambda task, source: open_judge.judge(task, source, timed=False)) == []


def test_weights_and_several_results_too(open_judge: Judge, tmp_path) -> None:
    path = tmp_path / "several.py"
    path.write_text(SEVERAL)
    assert preflight(load_task(path), lambda task, source: open_judge.judge(task, source, timed=False)) == []


def test_a_judge_that_believes_everything_is_found_out(open_judge: Judge) -> None:
    task = load_task(TASKS / "relu.py")
    honest = open_judge.judge(replace(task, library="allowed"), trials(task)[0].source, timed=False)
    surprises = preflight(task, lambda task, source: honest)
    assert [surprise.trial.name for surprise in surprises] == [
        "a candidate that returns zeros",
        "a candidate that keeps its first answer",
    ]
    assert "should have been judged WRONG_VALUE, and was UNTIMED" in str(surprises[0])


@pytest.mark.parametrize("trial", trials(load_task(TASKS / "relu.py")), ids=lambda trial: trial.name)
def test_each_is_of_the_tasks_own_making(trial) -> None:
    assert "class ModelNew(Model)" in trial.source
    assert trial.expect <= set(Status)
