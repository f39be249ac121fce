import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tasks import DTYPES, FAMILIES, LAYOUTS, Case, InputSpec, Task, TaskError

NAMES = st.text(min_size=1, max_size=8)
SHAPES = st.lists(st.integers(0, 2**20), min_size=2, max_size=4).map(tuple)
SPECS = st.builds(InputSpec, NAMES, SHAPES, st.sampled_from(sorted(DTYPES)), st.just("zeros"), st.sampled_from(LAYOUTS))
NUMBERS = st.integers() | st.floats(allow_nan=False)
CASES = st.builds(
    Case,
    NAMES,
    st.floats(min_value=0.01, max_value=100) | st.integers(1, 9),
    st.none() | st.lists(SPECS, max_size=3).map(tuple),
    st.dictionaries(NAMES, NUMBERS, max_size=3),
    st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=3).map(tuple),
)
TASKS = st.builds(
    Task,
    name=NAMES,
    source=st.text(),
    cases=st.lists(CASES, min_size=1, max_size=3, unique_by=lambda case: case.name).map(tuple),
    init=st.none() | st.lists(NUMBERS | st.text() | st.lists(st.integers()), max_size=3).map(tuple),
    neighbours=st.lists(CASES, max_size=2).map(tuple),
    varying=st.lists(NAMES, max_size=2).map(tuple),
    origin=st.text(),
)
PLAIN = Task("t", "source", (Case("given"),))


@given(TASKS)
def test_a_task_survives_the_wire(task):
    again = Task.from_wire(json.loads(json.dumps(task.to_wire())))
    assert again == task
    assert again.hash == task.hash


def test_the_hash_is_of_the_work_not_of_its_name():
    assert replace(PLAIN, name="other", origin="elsewhere").hash == PLAIN.hash
    assert len(PLAIN.hash) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"source": "other"},
        {"mode": "train"},
        {"weights": "live"},
        {"precision": "bf16"},
        {"library": "allowed"},
        {"init": ()},
        {"cases": (Case("given", constants={"n": 3}),)},
        {"neighbours": (Case("n=3"),)},
    ],
)
def test_the_hash_changes_with_the_work(change):
    assert replace(PLAIN, **change).hash != PLAIN.hash


def test_an_integer_weight_is_the_same_work():
    whole, real = (replace(PLAIN, cases=(Case("given", weight),)) for weight in (3, 3.0))
    assert whole.hash == real.hash


def test_tasks_can_be_members_of_sets():
    assert len({PLAIN, replace(PLAIN), replace(PLAIN, cases=(Case("a", constants={"n": 1}),))}) == 2


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"precision": "strickt"}, "Did you mean 'strict'"),
        ({"library": "yes"}, "forbidden, gemm-only, allowed"),
        ({"mode": "evaluate"}, "mode"),
        ({"weights": "thawed"}, "weights"),
        ({"cases": ()}, "no cases"),
        ({"cases": (Case("a"), Case("a"))}, "share a name"),
    ],
)
def test_impossible_tasks_are_refused(change, hint):
    with pytest.raises(TaskError) as caught:
        replace(PLAIN, **change)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"weight": 0}, "not positive"),
        ({"weight": float("inf")}, "not positive"),
        ({"families": ("givn",)}, "Did you mean 'given'"),
        ({"families": ()}, "no value families"),
    ],
)
def test_impossible_cases_are_refused_by_name(arguments, hint):
    with pytest.raises(TaskError, match="case 'a'") as caught:
        Case("a", **arguments)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((("x"), (-1,), "float32"), "not negative"),
        ((("x"), (2,), "float31"), "Did you mean 'float32'"),
        ((("x"), (2,), "float32", "normal", "transposed"), "at least 2 dimensions"),
        ((("x"), (), "float32", "normal", "strided"), "at least 1 dimensions"),
        ((("x"), (2,), "float32", "normal", "padded"), "layout"),
    ],
)
def test_impossible_inputs_are_refused_by_name(arguments, hint):
    with pytest.raises(TaskError, match="input 'x'") as caught:
        InputSpec(*arguments)
    assert hint in str(caught.value)


def test_a_case_follows_its_dims():
    dims = {"rows": 4, "cols": 8}
    spec = InputSpec.declared("x", ["rows", "2 * cols", 3], "int64", values="integers(0, cols)", dims=dims)
    case = Case("a", inputs=(spec,), constants=dims)
    (moved,) = case.at({"cols": 5}).inputs
    assert (spec.shape, spec.values) == ((4, 16, 3), "integers(0, 8)")
    assert (moved.shape, moved.values) == ((4, 10, 3), "integers(0, 5)")
    assert case.at({"cols": 8}) == case


def test_bytes_count_elements_of_the_dtype():
    assert InputSpec("x", (3, 5), "float16").bytes == 30
    assert InputSpec("x", (), "float64").bytes == 8
