"""Tasks are made small enough for the machine, and what was changed is said once."""

import pytest

from kernelwright.judge import _fit
from kernelwright.judge._fit import fit
from kernelwright.tasks import TaskError, load_task

TASK = """\
import torch

rows = 4096


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(rows, 3)]


def get_init_inputs():
    return []
"""


class Tries:
    """In place of a judge: what it finds when it tries a task, one answer after the other."""

    def __init__(self, *answers: tuple[int, float]) -> None:
        self._answers = iter(answers)

    def try_once(self, task):
        return next(self._answers)


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "double.py"
    path.write_text(TASK)
    return load_task(path)


def test_several_steps_are_told_as_one(task):
    smaller, changes = fit(Tries((0, 1.0), (0, 0.5), (0, 0.2)), task, seconds=0.25)
    assert changes == ["rows 4096 -> 512"]
    assert "rows = 512" in smaller.source


def test_results_take_room_too(task, monkeypatch):
    monkeypatch.setattr(_fit, "available_memory", lambda: 64 * 60_000)
    _, changes = fit(Tries((2 * 4096 * 12, 0.0), (4096 * 12, 0.0)), task, seconds=0.25)
    assert changes == ["rows 4096 -> 2048"]


def test_what_cannot_be_made_small_enough_is_said(task):
    with pytest.raises(TaskError, match="small enough"):
        fit(Tries(*[(0, 99.0)] * 10), task, seconds=0.25)
