import functools
import math
from math import sqrt

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.functional import gelu as smooth
from torch.nn.functional import max_pool1d

from kernelwright.tasks import InputSpec, Task, TaskError
from tests.tasks import kernelbench_form as own_file

SLOPE = 0.25
SIZES = (3, [4, float("inf")])
KIND = torch.float64
TABLE = torch.ones(3)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2 * function(*args)

    return wrapper


def scaled(x: Tensor, by=SLOPE) -> "nn.Module":
    return x * by / sqrt(4.0)


renamed = scaled


@twice
def fused(x: Tensor, power: int, y, mode=None):
    """Uses a little of everything."""
    if mode == "never":
        return fused(x, power, y)
    z = F.relu(x) ** power + smooth(y)
    return scaled(z).to(KIND) + renamed(y) + math.pi + SIZES[0]


def reads_table(x):
    return x + TABLE


def reads_own_file(x):
    return x + len(own_file.__doc__)


class Slopes:
    gentle: Tensor = SLOPE

    def steep(self, times: Tensor) -> float:
        return times * self.gentle


def reads_class(x):
    return x * Slopes().steep(8)


def reads_nothing_known(x):
    return x + nowhere  # noqa: F821


@functools.cache
def half():
    return 0.5


def calls_what_is_wrapped(x):
    return max_pool1d(x, 2) * half()


def fused_(x):
    return x


def same_name(same_name):
    return same_name + 1


def any_number(first, *rest):
    return first + sum(rest)


def outputs(task, *inputs):
    """Runs the generated reference as the judge would: by itself."""
    scope = {"__name__": "reference"}
    exec(compile(task.source, "reference", "exec"), scope)
    assert scope["get_init_inputs"]() == []
    return scope["Model"]()(*inputs)


def refused(function, *example):
    with pytest.raises(TaskError) as caught:
        Task.from_function(function, example)
    return str(caught.value)


def test_the_generated_reference_computes_what_the_function_computes():
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    task = Task.from_function(fused, (x, 3, y, "usual"), precision="tf32")
    assert torch.equal(outputs(task, x, y), fused.__wrapped__(x, 3, y, "usual"))
    assert (task.name, task.mode, task.init, task.precision) == ("fused", "eval", (), "tf32")
    assert [spec.name for spec in task.cases[0].inputs] == ["x", "y"]
    assert Task.from_wire(task.to_wire()) == task


def test_the_generated_text_reads_like_a_file():
    task = Task.from_function(fused, (torch.ones(2), 3, torch.ones(2)), name="mine")
    assert task.name == "mine"
    for line in [
        "import torch",
        "import torch.nn.functional as F",
        "from math import sqrt",
        "import math",
        "SLOPE = 0.25",
        "KIND = torch.float64",
        'def scaled(x: Tensor, by=SLOPE) -> "nn.Module":',
        "renamed = scaled",
        "    def forward(self, x, y):",
        "        return fused(x, 3, y)",
    ]:
        assert line in task.source.splitlines()
    assert "@twice" not in task.source


def test_closures_over_plain_values_and_functions_are_written_down():
    bias = 3.0

    def shifted(x):
        return x + bias

    def outer(x):
        return shifted(x) * 2

    x = torch.randn(3)
    assert torch.equal(outputs(Task.from_function(outer, (x,)), x), (x + 3.0) * 2)


def test_wrapped_helpers_are_imported_where_installed_and_unwrapped_where_not():
    x = torch.randn(1, 2, 8)
    task = Task.from_function(calls_what_is_wrapped, (x,))
    assert torch.equal(outputs(task, x), calls_what_is_wrapped(x))
    assert "import max_pool1d" in task.source
    assert "def half():" in task.source


def test_two_things_of_one_name_are_refused():
    def adding(amount):
        def shifted(x):
            return x + amount

        return shifted

    one, two = adding(1.0), adding(2.0)

    def both(x):
        return one(x) * two(x)

    assert "two different things are called 'shifted'" in refused(both, torch.randn(3))


def test_names_that_would_collide_are_kept_apart():
    x = torch.randn(3)
    assert torch.equal(outputs(Task.from_function(same_name, (x,)), x), x + 1)


def test_star_arguments_are_inputs_of_their_own():
    x, y = torch.randn(3), torch.randn(3)
    task = Task.from_function(any_number, (x, y, 2))
    assert torch.equal(outputs(task, x, y), any_number(x, y, 2))
    assert [spec.name for spec in task.cases[0].inputs] == ["first", "rest0"]


def test_classes_are_taken_along():
    task = Task.from_function(reads_class, [torch.ones(3)])
    assert "class Slopes" in task.source
    assert torch.equal(outputs(task, torch.ones(3)), torch.full((3,), 2.0))


def test_what_cannot_stand_alone_is_refused_with_a_reason():
    x = torch.randn(3)
    captured = torch.ones(3)

    def closes_over(x):
        return x + captured

    assert "reads 'captured', a Tensor" in refused(closes_over, x)
    assert "reads 'TABLE', a Tensor" in refused(reads_table, x)
    assert "reads 'own_file', a file of yours" in refused(reads_own_file, x)
    assert "nowhere" in refused(reads_nothing_known, x)
    assert "lambda" in refused(lambda x: x, x)
    assert "not a plain Python function" in refused(torch.exp, x)
    assert "not a plain Python function" in refused(nn.ReLU(), x)
    assert "not a plain Python function" in refused(nn.ReLU().forward, x)
    scope = {}
    exec("def typed(x):\n    return x", scope)
    assert "cannot be found" in refused(scope["typed"], x)


def test_examples_that_do_not_fit_are_refused():
    x = torch.randn(3)
    assert "too many positional arguments" in refused(reads_table, x, x)
    assert "argument 'x' is a list" in refused(fused_, [x])
    assert "no tensors" in refused(fused_, 3)
    assert "complex64" in refused(fused_, x.to(torch.complex64))
    assert "strides" in refused(fused_, x.expand(4, 3))


def described(example):
    (spec,) = Task.from_function(fused_, (example,)).cases[0].inputs
    return spec


def test_shape_dtype_and_layout_come_from_the_example():
    x = torch.zeros(4, 6)
    assert described(torch.zeros(2, 3, dtype=torch.bfloat16)) == InputSpec("x", (2, 3), "bfloat16", "constant(0.0)")
    assert described(torch.tensor(2.5)).shape == ()
    assert described(x).layout == "contiguous"
    assert described(x.T).layout == "transposed"
    assert described(x[:, ::2]).layout == "strided"
    assert described(torch.zeros(9)[1:]).layout == "offset"
    assert described(torch.zeros(9)[4:]).layout == "contiguous"


@pytest.mark.parametrize(
    ("example", "values"),
    [
        (torch.tensor([-1.0, 1.0]), "normal(0.0, 1.0)"),
        (torch.tensor([1234.5, 1236.5]), "normal(1240.0, 1.0)"),
        (torch.tensor([0.25, 0.5]), "uniform(0.25, 0.5)"),
        (torch.tensor([1e-8, 0.99999]), "uniform(0.0, 1.0)"),
        (torch.tensor([0.5, 0.5]), "constant(0.5)"),
        (torch.tensor([0.0, float("-inf"), -2.0]), "normal(-1.0, 1.0)"),
        (torch.tensor([float("-inf")]), "normal"),
        (torch.tensor([3, 7]), "integers(3, 8)"),
        (torch.tensor([True, False, False, False]), "bernoulli(0.25)"),
        (torch.zeros(0), "zeros"),
    ],
)
def test_the_values_of_an_example_are_resembled(example, values):
    assert described(example).values == values
