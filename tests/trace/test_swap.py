"""Winners take the calls they were proven on, and leave all others alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from kernelwright.tasks import Case, Task
from kernelwright.trace._call import input_specs, passing
from kernelwright.trace._design import design_of, remembering
from kernelwright.trace._swap import Swap, Winner
from tests.trace.models import Scale

X = torch.ones(8, 4)
WINNER = """
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(4))
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.weight.detach().clone()
        assert x.is_contiguous()
        return 100 * x * self.packed
"""


@pytest.fixture(autouse=True)
def _as_a_program_runs() -> Iterator[None]:
    with remembering(), torch.no_grad():
        yield


def winner_for(module: nn.Module, folder: Path, *args: object) -> Winner:
    passed = passing(module, args, {})
    source = design_of(module).reference(passed, "script.py")
    case = Case("seen", inputs=input_specs(passed.names, args, {}))
    return Winner(Task("scale", source, (case,), mode="train" if module.training else "eval"), WINNER, folder)


@pytest.fixture
def scale() -> nn.Module:
    return Scale(4).eval()


@pytest.fixture
def winner(scale, tmp_path) -> Winner:
    return winner_for(scale, tmp_path, X)


def swapped(winner: Winner, module: nn.Module, *args: object) -> torch.Tensor:
    with Swap([winner], "script.py").running():
        return module(*args)


def test_a_call_like_the_proven_one_is_taken(winner, scale):
    assert torch.equal(swapped(winner, scale, X), 100 * X)
    assert (winner.calls, winner.left_alone) == (1, {})


def test_another_instance_brings_its_own_weights(winner):
    other = Scale(4).eval()
    other.weight.fill_(3)
    assert torch.equal(swapped(winner, other, X), 300 * X)


def test_weights_that_change_meanwhile_are_noticed(winner, scale):
    with Swap([winner], "script.py").running():
        scale(X)
        scale.weight.fill_(2)
        assert torch.equal(scale(X), 200 * X)


def test_weights_that_are_replaced_are_noticed(winner, scale):
    with Swap([winner], "script.py").running():
        scale(X)
        scale.weight = nn.Parameter(torch.full((4,), 5.0))
        assert torch.equal(scale(X), 500 * X)


def test_inference_mode_changes_nothing(winner, tmp_path):
    with torch.inference_mode():
        built_inside = Scale(4).eval()
        assert torch.equal(swapped(winner, built_inside, X), 100 * X)
        assert torch.equal(swapped(winner_for(built_inside, tmp_path, X), built_inside, X), 100 * X)


def test_tensors_that_lie_otherwise_are_copied(winner, scale):
    assert torch.equal(swapped(winner, scale, torch.ones(4, 8).t()), 100 * X)


@pytest.mark.parametrize(
    ("build", "args", "why"),
    [
        (lambda: Scale(4).eval(), (torch.ones(7, 4),), "shapes are none"),
        (lambda: Scale(4).eval(), (X.double(),), "shapes are none"),
        (lambda: Scale(4).eval(), (X, 2), "not the module"),
        (lambda: Scale(4), (X,), "not the module"),
        (lambda: Scale(4, act=torch.tanh).eval(), (X,), "not the module"),
    ],
)
def test_other_calls_are_left_alone(winner, build, args, why):
    module = build()
    expected = module(*args)
    assert torch.equal(swapped(winner, module, *args), expected)
    assert winner.calls == 0
    assert [why in reason for reason in winner.left_alone] == [True]


def test_gradients_are_left_alone(winner, scale):
    with torch.enable_grad():
        assert swapped(winner, scale, X).requires_grad
    assert winner.calls == 0
