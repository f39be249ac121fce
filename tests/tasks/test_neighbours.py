import pytest

from kernelwright.tasks import Case, InputSpec, load_task
from kernelwright.tasks._neighbours import changeable_sizes, neighbours
from kernelwright.tasks._reference import Reference

from .kernelbench_form import SOFTMAX, write_reference


def changeable(text):
    return set(changeable_sizes(Reference.parse(text, "task.py")))


def test_one_less_and_an_odd_half_each_with_given_values_only(tmp_path):
    near = load_task(write_reference(tmp_path)).neighbours
    assert [dict(case.constants) for case in near] == [
        {"batch_size": 4095},
        {"dim": 393215},
        {"batch_size": 2049},
        {"dim": 196609},
    ]
    assert all(case.name == "{}={}".format(*next(iter(case.constants.items()))) for case in near)
    assert all(case.inputs is None and case.families == ("given",) for case in near)


def test_there_are_at_most_four_and_every_name_has_its_turn():
    near = neighbours(Case("a"), {"a": 64, "b": 64, "c": 64})
    assert [case.name for case in near] == ["a=63", "b=63", "c=63", "a=33"]


@pytest.mark.parametrize(
    ("size", "names"), [(1, []), (2, ["n=1"]), (3, ["n=2", "n=1"]), (4, ["n=3"]), (5, ["n=4", "n=3"])]
)
def test_small_sizes_have_no_twins(size, names):
    assert [case.name for case in neighbours(Case("a"), {"n": size})] == names


def test_a_size_at_which_inputs_cannot_be_drawn_is_no_neighbour():
    spec = InputSpec.declared("i", [4], "int64", values="integers(0, n - 1)", dims={"n": 3})
    near = neighbours(Case("a", inputs=(spec,), constants={"n": 3}), {"n": 3})
    assert [case.name for case in near] == ["n=2"]


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (("return [scale]", "return [dim]"), {"batch_size"}),
        (("* self.scale", "* self.scale / dim"), {"batch_size"}),
        (("scale = 2.0", "scale = 1 / dim"), {"batch_size"}),
        (("def get_inputs()", "def get_inputs(d=dim)"), {"batch_size"}),
        (("batch_size = 4096", "batch_size = True"), {"dim"}),
        (("batch_size = 4096", "batch_size = 1"), {"dim"}),
        (("batch_size = 4096", "batch_size = 4096.0"), {"dim"}),
        (("batch_size = 4096", "batch_size = len('abc')"), {"dim"}),
        (("batch_size, dim)", "8, dim)"), {"dim"}),
        (
            ("    return [torch.rand(batch_size", "    batch_size = 3\n    return [torch.rand(batch_size"),
            {"dim"},
        ),
    ],
    ids=["init", "model", "module level", "default", "bool", "one", "float", "computed", "unread", "local"],
)
def test_only_sizes_that_nothing_else_depends_on_vary(change, kept):
    assert changeable(SOFTMAX.replace(*change)) == kept


def test_sizes_are_followed_through_helpers():
    text = SOFTMAX.replace("[torch.rand(batch_size, dim)]", "draw(batch_size)")
    helper = "def draw(n):\n    return [torch.rand(n, dim)]\n"
    assert changeable(text + helper) == {"batch_size", "dim"}
    model = text.replace("* self.scale", "* width()")
    assert changeable(model + helper + "def width():\n    return dim\n") == {"batch_size"}
