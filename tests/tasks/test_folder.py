import pytest

from kernelwright.tasks import Case, InputSpec, Task, TaskError, load_task

REFERENCE = """\
import torch

rows = 8
slope = 0.1


class Model(torch.nn.Module):
    def forward(self, x, bias):
        return torch.relu(x + bias)
"""
TOML = """\
name = "bias"
mode = "eval"
neighbours = ["rows"]

[[case]]
name = "large"
weight = 3
dims = { rows = 4096, cols = 1024 }
families = ["given", "spikes"]
[case.inputs]
x = { shape = ["rows", "cols"], dtype = "bfloat16", values = "uniform(0, 1)", layout = "transposed" }
bias = { shape = ["cols"] }

[[case]]
name = "small"
dims = { rows = 7, cols = 5 }
[case.inputs]
x = { shape = ["rows", "cols"] }
bias = { shape = [5] }
"""


def folder(tmp_path, toml=TOML, reference=REFERENCE):
    (tmp_path / "task.toml").write_text(toml)
    (tmp_path / "reference.py").write_text(reference)
    return tmp_path


def refused(path, **options):
    with pytest.raises(TaskError) as caught:
        load_task(path, **options)
    return caught.value


def test_a_folder_becomes_a_task(tmp_path):
    task = load_task(folder(tmp_path))
    large, small = task.cases
    assert (task.name, task.mode, task.init, task.varying) == ("bias", "eval", (), ("rows",))
    assert (large.weight, large.families, small.weight) == (3.0, ("given", "spikes"), 1.0)
    assert [(spec.name, spec.shape, spec.dtype, spec.layout) for spec in large.inputs] == [
        ("x", (4096, 1024), "bfloat16", "transposed"),
        ("bias", (1024,), "float32", "contiguous"),
    ]
    assert small.inputs[1] == InputSpec("bias", (5,), "float32")
    assert Task.from_wire(task.to_wire()) == task


def test_the_toml_file_itself_may_be_named(tmp_path):
    assert load_task(folder(tmp_path) / "task.toml") == load_task(tmp_path)


def test_neighbours_vary_the_listed_dims_of_the_first_case(tmp_path):
    first, second = load_task(folder(tmp_path)).neighbours
    assert (first.name, second.name) == ("rows=4095", "rows=2049")
    assert first.families == ("given",)
    assert first.inputs[0].shape == (4095, 1024)
    assert first.weight == 1.0


def test_setting_a_dim_changes_every_case_that_has_it_and_the_constant(tmp_path):
    task = load_task(folder(tmp_path), constants={"rows": "16", "slope": "0.5"})
    assert [case.inputs[0].shape for case in task.cases] == [(16, 1024), (16, 5)]
    assert "rows = 16\nslope = 0.5\n" in task.source
    assert task.neighbours[0].name == "rows=15"


def test_settings_that_cannot_be_made_are_refused(tmp_path):
    path = folder(tmp_path)
    assert refused(path, constants={"row": 1}).fix == "Did you mean 'rows'? Known: cols, rows, slope."
    assert "not a number" in refused(path, constants={"cols": "'a'"}).what
    assert "literal" in refused(path, constants={"cols": "many"}).what


def test_without_declared_inputs_the_dims_are_constants(tmp_path):
    toml = 'neighbours = ["rows"]\n[[case]]\nname = "a"\ndims = { rows = 64 }\n'
    task = load_task(folder(tmp_path, toml, REFERENCE + "def get_inputs(): return [torch.rand(rows)] * 2\n"))
    assert task.cases == (Case("a", constants={"rows": 64}),)
    assert task.neighbours[0].constants == {"rows": 63}
    assert task.name == tmp_path.name


def test_a_folder_that_declares_no_case_judges_what_get_inputs_gives(tmp_path):
    task = load_task(folder(tmp_path, "init = [1, [2]]", REFERENCE + "def get_inputs(): return []\n"))
    assert task.cases == (Case("given"),)
    assert task.init == (1, [2])


def test_get_init_inputs_is_used_where_init_is_not_declared(tmp_path):
    assert load_task(folder(tmp_path, TOML, REFERENCE + "def get_init_inputs(): return []\n")).init is None


def test_targets_are_kept_and_are_no_part_of_the_work(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    task = load_task(folder(tmp_path / "one", TOML.replace('mode = "eval"', 'targets = ["nvidia-h200", "small"]')))
    anywhere = load_task(folder(tmp_path / "two", TOML.replace('mode = "eval"', "")))
    assert task.targets == Task.from_wire(task.to_wire()).targets == ("nvidia-h200", "small")
    assert task.hash == anywhere.hash
    assert "targets" not in anywhere.to_wire()


def test_the_mode_may_be_chosen(tmp_path):
    assert load_task(folder(tmp_path), mode="train").mode == "train"


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        (
            "bias = { shape = [5] }",
            "bias = { shape = [5], dtpye = 'int8' }",
            "case[1].inputs.bias.dtpye: no such key. Did you mean 'dtype'?",
        ),
        ("weight = 3", "wieght = 3", "case[0].wieght: no such key. Did you mean 'weight'?"),
        ('mode = "eval"', 'moed = "eval"', "moed: no such key. Did you mean 'mode'?"),
        ('mode = "eval"', 'zzz = "eval"', "zzz: no such key. Known keys: name, precision"),
        ('name = "small"', "", "case[1].name: this key is missing."),
        ("shape = [5]", "dtype = 'int8'", "case[1].inputs.bias.shape: this key is missing."),
        ('mode = "eval"', 'targets = "here"', "targets: 'here' should be a valid list."),
        ("weight = 3", "weight = 'heavy'", "case[0].weight: 'heavy' should be a valid number."),
        (
            "shape = [5]",
            "shape = [5.5]",
            "case[1].inputs.bias.shape[0]: 5.5 should be a valid integer or a valid string.",
        ),
        ("rows = 7", "rows = 'x'", "case[1].dims.rows: 'x' should be a valid integer or a valid number."),
    ],
)
def test_keys_that_are_wrong_are_named_with_their_place(tmp_path, right, wrong, sentence):
    error = refused(folder(tmp_path, TOML.replace(right, wrong)))
    assert sentence in error.what
    assert error.where == str(tmp_path / "task.toml")


def test_all_wrong_keys_are_told_at_once(tmp_path):
    error = refused(folder(tmp_path, TOML.replace("weight", "wieght").replace("mode", "moed")))
    assert error.what.startswith("2 problems:")
    assert "moed" in error.what
    assert "wieght" in error.what


@pytest.mark.parametrize(
    ("right", "wrong", "place", "sentence"),
    [
        (
            '["rows", "cols"] }\nbias = { shape = [5] }',
            '["row", "cols"] }\nbias = { shape = [5] }',
            ": case[1]",
            "input 'x': shape entry 'row' names 'row'",
        ),
        ("shape = [5]", 'shape = ["rows / 2"]', ": case[1]", "is 3.5, not an integer"),
        ("shape = [5]", 'shape = ["f(rows)"]', ": case[1]", "cannot be read"),
        ("uniform(0, 1)", "uniform(0)", ": case[0]", "input 'x': values = 'uniform(0)'"),
        ('"spikes"', '"spieks"', ": case[0]", "case 'large': family is 'spieks'"),
        ('mode = "eval"', 'precision = "exact"', "", "precision is 'exact'"),
        (
            'neighbours = ["rows"]',
            'neighbours = ["row"]',
            "",
            "neighbours names 'row', which is no integer dim of case 'large'",
        ),
        ("bias = { shape = [5] }", "", ": case[1]", "declares the inputs (x), but forward takes (x, bias)"),
        ("weight = 3", "weight = -1", ": case[0]", "not positive"),
        ('name = "small"', 'name = "large"', "", "share a name"),
        ('mode = "eval"', 'targets = ["NVIDIA H200"]', "", "targets names 'NVIDIA H200', which cannot be the name"),
        ('mode = "eval"', 'targets = ["here", "there", "here"]', "", "targets names 'here' twice"),
    ],
)
def test_values_that_are_wrong_are_named_with_their_place(tmp_path, right, wrong, place, sentence):
    error = refused(folder(tmp_path, TOML.replace(right, wrong)))
    assert sentence in error.what
    assert error.where == str(tmp_path / "task.toml") + place


def test_inputs_in_another_order_than_forward_are_noticed(tmp_path):
    error = refused(folder(tmp_path, TOML, REFERENCE.replace("self, x, bias", "self, bias, x")))
    assert "in the order (bias, x)" in error.what


@pytest.mark.parametrize("signature", ["self, *tensors", "self, a, b", "self, x, bias, eps=1.0"])
def test_forward_may_take_the_inputs_in_many_ways(tmp_path, signature):
    assert load_task(folder(tmp_path, TOML, REFERENCE.replace("self, x, bias", signature)))


def test_toml_that_cannot_be_read_names_the_line(tmp_path):
    error = refused(folder(tmp_path, 'name = "a"\nmode = \n'))
    assert error.where == f"{tmp_path / 'task.toml'}:2"


def test_a_reference_is_needed(tmp_path):
    (tmp_path / "task.toml").write_text(TOML)
    assert "no reference.py" in refused(tmp_path).what


def test_a_reference_must_define_what_the_toml_leaves_open(tmp_path):
    assert "'Model'" in refused(folder(tmp_path, TOML, "")).what
    assert "'get_inputs'" in refused(folder(tmp_path, '[[case]]\nname = "a"\n')).what
    needy = REFERENCE.replace("    def forward", "    def __init__(self, width): ...\n    def forward")
    assert "Model(width) needs arguments" in refused(folder(tmp_path, TOML, needy)).what
    assert load_task(folder(tmp_path, "init = [3]\n" + TOML, needy)).init == (3,)


def test_dims_that_reference_py_does_not_define_are_refused(tmp_path):
    toml = '[[case]]\nname = "a"\ndims = { row = 64 }\n'
    error = refused(folder(tmp_path, toml, REFERENCE + "def get_inputs(): return []\n"))
    assert "'row', which reference.py does not define" in error.what
    assert "Did you mean 'rows'" in error.fix
