"""What a task shows without a kernel: on the host, and with host memory in a device's role."""

from collections.abc import Iterator

import pytest

from kernelwright.judge import Examination, Judge, examine
from kernelwright.tasks import FLAWS, FLOATS, Task, TaskError, in_dtype
from kernelwright.tasks._load import task_from_text
from tests.tasks.made_up_suites import problem

SCALED = problem("x * self.weight").replace(
    "    def forward",
    "    def __init__(self):\n        super(Model, self).__init__()\n"
    "        self.weight = nn.Parameter(torch.randn(cols))\n\n    def forward",
)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(device="host") as judge:
        yield judge


def described(text: str) -> Task:
    return task_from_text(text, "made up", "made_up.py", {}, "train")


def look(judge: Judge, text: str, *, on_device: bool, dtype: str = "given") -> Examination:
    return examine(judge, in_dtype(described(text), dtype), on_device=on_device)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize(
    ("expression", "flaws", "weak"),
    [
        ("x.abs()", set(), False),
        ("x * 0", {"null-candidate", "constant", "collapse"}, True),
        ("x.softmax(1).sum(1)", {"null-candidate", "constant", "collapse"}, True),
        ("x + 0", {"null-candidate", "identity"}, True),
        ("x.sum(1, keepdim=True)", set(), False),
        ("x.cumsum(1)[:, :3, None, None]", set(), False),
    ],
)
def test_everything_that_passes_is_noted(
    judge: Judge, expression: str, flaws: set[str], weak: bool, on_device: bool
) -> None:
    found = look(judge, problem(expression), on_device=on_device)
    assert flaws <= set(found.flaws) <= FLAWS.keys()
    assert bool(found.flaws) == bool(flaws)
    assert (found.weak, bool(found.nulls)) == (weak, weak)
    assert found.inputs == ("float32",)


@pytest.mark.parametrize("on_device", [False, True])
def test_an_input_that_is_the_answer_only_on_given_inputs_is_a_flaw_and_no_weakness(
    judge: Judge, on_device: bool
) -> None:
    found = look(judge, problem("torch.relu(x)").replace("randn", "rand"), on_device=on_device)
    assert (found.flaws, found.weak) == (("identity",), False)


def test_nothing_is_opened_for_candidates_that_will_not_come(judge: Judge) -> None:
    look(judge, problem("x.abs()"), on_device=True)
    assert judge.workshop._opening == []


@pytest.mark.parametrize("on_device", [False, True])
def test_what_is_left_to_chance_is_a_flaw_of_the_task(judge: Judge, on_device: bool) -> None:
    with pytest.raises(TaskError) as caught:
        look(judge, problem("nn.functional.dropout(x, 0.5, self.training)"), on_device=on_device)
    assert caught.value.flaws == ("stochastic",)


@pytest.mark.parametrize("on_device", [False, True])
def test_a_reference_that_needs_more_memory_than_there_is(judge: Judge, on_device: bool) -> None:
    with pytest.raises(TaskError, match="does not fit in this machine's memory") as caught:
        look(judge, problem("x + torch.zeros(1 << 44).sum()"), on_device=on_device)
    assert "--fit" in caught.value.fix
    assert caught.value.flaws == ()


# *** other numbers ***


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("on_device", [False, True])
def test_weights_and_inputs_are_cast_as_a_whole(judge: Judge, dtype: str, on_device: bool) -> None:
    found = look(judge, SCALED, on_device=on_device, dtype=dtype)
    assert found.inputs == ("float32" if dtype == "given" else dtype,)
    assert found.flaws == ()


def test_in_smaller_numbers_a_task_can_be_undefined(judge: Judge) -> None:
    with pytest.raises(TaskError) as caught:
        look(judge, problem("(x * 300).pow(4)"), on_device=True, dtype="float16")
    assert caught.value.flaws == ("undefined",)


def test_a_reference_that_mixes_numbers_says_so(judge: Judge) -> None:
    text = problem("x @ torch.linspace(-1, 2, 3 * cols).reshape(cols, 3)")
    assert look(judge, text, on_device=True).flaws == ()
    with pytest.raises(TaskError, match="dtype") as caught:
        look(judge, text, on_device=True, dtype="float16")
    assert caught.value.flaws == ()


def test_an_unknown_dtype() -> None:
    with pytest.raises(TaskError, match="float7"):
        in_dtype(described(problem("x.abs()")), "float7")


def test_as_given_nothing_changes() -> None:
    task = described(problem("x.abs()"))
    assert in_dtype(task, "given") is task
    assert in_dtype(task, "float16").hash != task.hash
