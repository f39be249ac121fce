"""A module's text stands alone, builds the same module again, and says so where it does not."""

import argparse
import copy
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from kernelwright.tasks import TaskError
from kernelwright.trace._call import input_specs, passing
from kernelwright.trace._design import design_of, remembering
from kernelwright.trace._rebuilt import compare, cost_of, rebuilt
from kernelwright.trace._text import class_replaced
from tests.trace.models import Around, Config, Counting, Model, Noisy, Scale, Stack

X = torch.linspace(-2, 2, 32).view(8, 4)


@pytest.fixture(autouse=True)
def _remembering() -> Iterator[None]:
    with remembering():
        yield


def source_of(module: nn.Module, *args: object, **kwargs: object) -> str:
    return design_of(module).reference(passing(module, args, kwargs), "script.py")


def check(module: nn.Module, *args: object, **kwargs: object) -> str:
    """The text, after what it builds has been held against the module."""
    passed = passing(module, args, kwargs)
    source = source_of(module, *args, **kwargs)
    compare(rebuilt(source, module), module, passed, input_specs(passed.names, args, kwargs))
    return source


@pytest.mark.parametrize(
    ("build", "args", "kwargs"),
    [
        (lambda: Scale(4), (X,), {}),
        (lambda: Scale(4, act=torch.tanh), (X, 3), {}),
        (lambda: Scale(4), (X,), {"mask": torch.ones(4), "power": 2}),
        (lambda: Stack(Config(4)), (X,), {}),
        (lambda: Stack(Config(4, act=nn.GELU)), (X,), {}),
        (lambda: Around(Scale(4), argparse.Namespace(by=0.5)), (X,), {}),
        (lambda: copy.deepcopy(Around(nn.Linear(4, 4, bias=False), argparse.Namespace(by=2))), (X,), {}),
        (Model, ((X, X + 1),), {}),
        (lambda: nn.LayerNorm(4, eps=1e-3), (X,), {}),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU()), (X,), {}),
    ],
)
def test_the_text_builds_the_same_module(build, args, kwargs):
    check(build().eval(), *args, **kwargs)


def test_the_text_stands_alone():
    source = source_of(Stack(Config(4)), X)
    assert "tests.trace" not in source
    for needed in ("class Config", "class Scale", "def leaned", "SLOPE = 0.25", "class Model(Stack)"):
        assert needed in source


def test_weights_in_other_numbers_are_cast():
    module = nn.Linear(4, 4).to(torch.bfloat16)
    assert "self.to(torch.bfloat16)" in check(module, X.to(torch.bfloat16))


def test_a_text_says_what_it_replaces():
    assert class_replaced(source_of(nn.LayerNorm(4), X)) == "LayerNorm"
    assert class_replaced(source_of(Model(), (X, X))) == "Model"
    assert class_replaced("import torch\nclass Model(torch.nn.Module):\n    pass\n") == ""


def test_two_modules_of_one_design_are_equal():
    assert design_of(Scale(4)) == design_of(Scale(4))
    assert design_of(Scale(4)) != design_of(Scale(5))
    assert design_of(Scale(4)) != design_of(Scale(4).eval())


def changed() -> nn.Module:
    module = Scale(4)
    module.act = torch.tanh
    return module


def grown() -> nn.Module:
    module = Scale(4)
    module.weight = nn.Parameter(torch.ones(1))
    return module


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (changed, "changed after it was built"),
        (grown, "changed after it was built"),
        (Noisy, "other results each time"),
        (Counting, "changes its own weights or buffers"),
        (lambda: Scale(4, act=torch.ones(3)), "built with a Tensor"),
    ],
)
def test_what_a_task_cannot_hold_is_said(build, words):
    with pytest.raises(TaskError, match=words):
        check(build(), X)


def test_an_argument_that_is_no_value_is_said():
    with pytest.raises(TaskError, match="argument 'power' is a object"):
        passing(Scale(4), (X, object()), {})


def test_what_a_call_costs():
    module = nn.Linear(4, 4)
    cost = cost_of(module, input_specs(("x",), (X,), {}))
    assert cost.bytes == 4 * (32 + 32 + 16 + 4)
    assert cost.operators == 1
    assert cost.matrix == 2 * 8 * 4 * 4
    assert cost.operations >= cost.matrix
