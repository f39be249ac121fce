import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tasks import TaskError
from kernelwright.tasks._constants import constants, with_constants
from kernelwright.tasks._reference import Reference

from .kernelbench_form import SOFTMAX


def reference(text):
    return Reference.parse(text, "task.py")


def substituted(text, **settings):
    return with_constants(reference(text), settings).text


@given(
    before=st.text(alphabet="abcü 𝕏#\n", max_size=30),
    value=st.integers(),
    after=st.text("äxyz0 ", max_size=10),
)
def test_only_the_value_changes(before, value, after):
    text = f'"""{before}"""; dim = 4096  # {after}\nother = "{after}"\n'
    assert substituted(text, dim=value) == f'"""{before}"""; dim = {value}  # {after}\nother = "{after}"\n'


@given(st.dictionaries(st.sampled_from(["batch_size", "dim", "scale"]), st.integers() | st.floats(0, 9)))
def test_set_constants_read_back(settings):
    changed = with_constants(reference(SOFTMAX), settings)
    assert constants(changed) == {"batch_size": 4096, "dim": 393216, "scale": 2.0} | settings


@pytest.mark.parametrize(
    ("before", "settings", "after"),
    [
        ("m = 1024 * 2", {"m": "8"}, "m = 8"),
        ("m: int = 4", {"m": "8"}, "m: int = 8"),
        ("m = (4)  # four", {"m": "(1, 2)"}, "m = ((1, 2))  # four"),
        ("d, h, w = 16, 32, 32", {"h": "5"}, "d, h, w = 16, 5, 32"),
        ("h = w = 64  # both", {"h": "5"}, "h = w = 64; h = 5  # both"),
        ("h = w = 64", {"h": "5", "w": "6"}, "h = w = 64; w = 6; h = 5"),
        ("shape = (\n    3,\n    4,\n)\nn = 1", {"shape": "(5,)"}, "shape = (5,)\nn = 1"),
        ("name = 'relu'", {"name": "gelu"}, "name = 'gelu'"),
        ("name = 'relu'", {"name": "'gelu'"}, "name = 'gelu'"),
        ("low = -2.0", {"low": "-0.5"}, "low = -0.5"),
        ("flag = False", {"flag": True}, "flag = True"),
        ("n = 1\nn = 2", {"n": 3}, "n = 1\nn = 3"),
        ("n = 1", {"n": "2**10"}, "n = 1024"),
        ("c = 1.0", {"c": "1e999"}, "c = float('inf')"),
    ],
)
def test_every_form_of_assignment_can_be_set(before, settings, after):
    assert substituted(before, **settings) == after
    ast.parse(after)


def test_an_unknown_name_lists_what_exists():
    with pytest.raises(TaskError, match="'batchsize'") as caught:
        substituted(SOFTMAX, batchsize=3)
    assert caught.value.fix == "Did you mean 'batch_size'? Known: batch_size, dim, scale."


@pytest.mark.parametrize(
    "text",
    [
        "n = 4\ngroups = n",
        "groups = f(3)",
        "groups = 4\ngroups *= 2",
        "groups = 4\nif x:\n    groups = 8",
        "groups, b = f()",
    ],
)
def test_a_computed_name_is_not_set_behind_its_back(text):
    with pytest.raises(TaskError, match="'groups' is computed") as caught:
        substituted(text, groups=3)
    assert caught.value.where.startswith("task.py:")


def test_text_that_is_no_literal_is_refused():
    with pytest.raises(TaskError, match="not a Python literal"):
        substituted("n = 4", n="four")
