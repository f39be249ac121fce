import pytest

from kernelwright.tasks import Case, InputSpec, Task, load_task, shrink

from .kernelbench_form import SOFTMAX, write_reference


def softmax(tmp_path, *changes):
    text = SOFTMAX
    for before, after in changes:
        text = text.replace(before, after)
    return load_task(write_reference(tmp_path, text))


def declared(varying=(), **dims):
    spec = InputSpec.declared("x", list(dims), "float32", dims=dims)
    return Task("t", "", (Case("a", inputs=(spec,), constants=dims),), varying=varying)


def test_the_largest_size_is_halved_until_it_fits(tmp_path):
    task, changes = vars(shrink(softmax(tmp_path), 100)).values()
    assert changes == ("dim 393216 -> 3072",)
    assert "\ndim = 3072\n" in task.source
    assert "\nbatch_size = 4096  # größer\n" in task.source
    assert [case.name for case in task.neighbours][1] == "dim=3071"


def test_sizes_take_turns_once_they_are_equal(tmp_path):
    small = softmax(tmp_path, ("393216", "16"), ("4096", "16"))
    assert shrink(small, 8).changes == ("batch_size 16 -> 4", "dim 16 -> 8")


def test_sizes_of_the_model_stay(tmp_path):
    task = softmax(tmp_path, ("return [scale]", "return [dim]"))
    assert shrink(task, 4).changes == ("batch_size 4096 -> 1024",)
    assert shrink(task, 4096).changes == ("batch_size 4096 -> 1",)
    assert shrink(task, 4097) is None


def test_sizes_that_only_shape_other_sizes_are_halved_too(tmp_path):
    task = softmax(tmp_path, ("scale = 2.0", "scale = 2.0\nshape = (batch_size, 8)"), ("(batch_size, dim)", "(*shape)"))
    assert shrink(task, 2).changes == ("batch_size 4096 -> 2048",)


def test_sizes_that_do_not_change_the_inputs_are_left_alone(tmp_path):
    task = softmax(tmp_path, ("torch.rand(batch_size, dim)", "torch.randint(0, dim, (batch_size, 2))"))
    assert shrink(task, 2).changes == ("batch_size 4096 -> 2048",)


def test_inputs_that_cannot_be_estimated_are_assumed_to_be_products(tmp_path):
    task = softmax(tmp_path, ("torch.rand(batch_size, dim)", "make(batch_size, dim)"))
    assert shrink(task, 4).changes == ("dim 393216 -> 98304",)


def test_a_factor_of_one_changes_nothing(tmp_path):
    task = softmax(tmp_path)
    assert shrink(task, 1).task is task


def test_declared_dims_are_halved_as_listed():
    assert shrink(declared(rows=64, cols=32), 8).changes == ("a: rows 64 -> 16", "a: cols 32 -> 16")
    only_cols = shrink(declared(("cols",), rows=64, cols=32), 8)
    assert only_cols.changes == ("a: cols 32 -> 4",)
    assert only_cols.task.cases[0].inputs[0].shape == (64, 4)
    assert [case.name for case in only_cols.task.neighbours] == ["cols=3"]
    assert shrink(declared(("cols",), rows=64, cols=32), 64) is None


def test_small_cases_stay_as_they_are():
    large, small = (declared(rows=rows).cases[0] for rows in (1024, 100))
    task = Task("t", "", (large, Case("b", inputs=small.inputs, constants=small.constants)))
    assert shrink(task, 4).changes == ("a: rows 1024 -> 256",)


def test_halving_stops_where_inputs_can_no_longer_be_drawn():
    dims = {"rows": 4, "classes": 4}
    spec = InputSpec.declared("i", ["rows", "classes"], "int64", values="integers(2, classes)", dims=dims)
    task = Task("t", "", (Case("a", inputs=(spec,), constants=dims),))
    assert shrink(task, 4).changes == ("a: rows 4 -> 1",)
    assert shrink(task, 8) is None


def test_cases_by_constants_shrink_by_constants():
    source = "n = 8\ndef get_inputs():\n    size = (n, 3)\n    return [torch.zeros(size, dtype=torch.int8)]\n"
    task = Task("t", source, (Case("a", constants={"n": 64}), Case("b", constants={"n": 20})))
    shrunk = shrink(task, 4)
    assert [case.constants["n"] for case in shrunk.task.cases] == [16, 10]
    assert shrunk.task.source == source


def test_fixed_inputs_cannot_shrink():
    task = Task("t", "", (Case("a", inputs=(InputSpec("x", (64,), "float32"),)),))
    assert shrink(task, 2) is None


@pytest.mark.parametrize(
    ("call", "size"),
    [
        ("torch.rand(n, 3)", 24),
        ("torch.randn((n, 3))", 24),
        ("torch.empty([n])", 8),
        ("torch.rand(size=(n, 2))", 16),
        ("torch.randint(0, unknown, (n, 2))", 32),
        ("torch.full((n,), 1.0, dtype=torch.float16)", 4),
    ],
)
def test_calls_that_make_tensors_are_understood(call, size):
    from kernelwright.tasks._reference import Reference
    from kernelwright.tasks._size import estimated_bytes

    reference = Reference.parse(f"n = 5\ndef get_inputs():\n    return [{call}]\n", "task.py")
    assert estimated_bytes(reference, {"n": 2}) == size


@pytest.mark.parametrize("call", ["f(n)", "torch.rand(m)", "torch.randint(0, 2, x.shape)", "torch.rand('a')"])
def test_calls_that_are_not_understood_have_no_size(call):
    from kernelwright.tasks._reference import Reference
    from kernelwright.tasks._size import estimated_bytes

    reference = Reference.parse(f"n = 5\ndef get_inputs():\n    return [{call}]\n", "task.py")
    assert estimated_bytes(reference, {}) is None
