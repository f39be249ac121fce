from pathlib import Path

import pytest

from kernelwright.tasks import DEFAULT_FAMILIES, Case, TaskError, load_task

from .kernelbench_form import SOFTMAX, write_reference


def refused(spec, **options):
    with pytest.raises(TaskError) as caught:
        load_task(spec, **options)
    return caught.value


def test_a_kernelbench_file_becomes_a_task(tmp_path):
    path = write_reference(tmp_path)
    task = load_task(path)
    assert (task.name, task.source, task.origin) == ("softmax", SOFTMAX, str(path))
    assert (task.mode, task.library, task.precision, task.weights) == (
        "train",
        "forbidden",
        "strict",
        "frozen",
    )
    assert task.init is None
    assert task.cases == (Case("given", families=DEFAULT_FAMILIES),)


def test_a_path_may_be_text_and_the_mode_may_be_chosen(tmp_path):
    assert load_task(str(write_reference(tmp_path)), mode="eval").mode == "eval"
    assert "mode" in refused(write_reference(tmp_path), mode="test").what


def test_set_constants_are_in_the_source_and_in_the_neighbours(tmp_path):
    task = load_task(write_reference(tmp_path), constants={"dim": "100", "batch_size": 8})
    assert "\ndim = 100\n" in task.source
    assert "\nbatch_size = 8  # größer\n" in task.source
    assert [case.name for case in task.neighbours] == ["batch_size=7", "dim=99", "batch_size=5", "dim=51"]


def test_a_set_constant_that_does_not_exist_names_the_file(tmp_path):
    path = write_reference(tmp_path)
    assert refused(path, constants={"dmi": "3"}).where == str(path)


def test_the_file_is_never_executed(tmp_path):
    path = write_reference(tmp_path, SOFTMAX + "\nraise SystemExit('executed')\n")
    assert load_task(path).name == "softmax"


def test_windows_line_ends_and_byte_order_marks_are_read(tmp_path):
    path = tmp_path / "t.py"
    path.write_bytes(b"\xef\xbb\xbf" + SOFTMAX.replace("\n", "\r\n").encode())
    assert load_task(path).source == SOFTMAX


def test_a_syntax_error_names_the_line(tmp_path):
    error = refused(write_reference(tmp_path, "import torch\nclass Model(:\n"))
    assert error.where.endswith("softmax.py:2")
    assert "not valid Python" in error.what


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("get_inputs", "get_input"),
        ("get_inputs", "getInputs"),
        ("get_init_inputs", "get_init_input"),
        ("Model", "model"),
    ],
)
def test_misspelt_names_are_recognised(tmp_path, right, wrong):
    text = SOFTMAX.replace(f"def {right}(", f"def {wrong}(").replace(f"class {right}(", f"class {wrong}(")
    error = refused(write_reference(tmp_path, text))
    assert repr(right) in error.what
    assert error.fix == f"Rename {wrong!r} to {right!r}."
    line = int(error.where.rsplit(":", 1)[1])
    assert wrong in text.splitlines()[line - 1]


def test_a_missing_name_says_what_it_is_for(tmp_path):
    error = refused(write_reference(tmp_path, SOFTMAX.split("def get_init_inputs")[0]))
    assert "'get_init_inputs'" in error.what
    assert "arguments of Model" in error.fix


def test_a_candidate_given_in_place_of_a_task_is_recognised(tmp_path):
    error = refused(write_reference(tmp_path, SOFTMAX.replace("class Model", "class ModelNew")))
    assert "candidate" in error.fix


@pytest.mark.parametrize(
    ("method", "fix"),
    [("foward", "Rename 'foward' to 'forward'."), ("compute", "Define forward(self, ...): the computation.")],
)
def test_a_model_without_forward_is_refused(tmp_path, method, fix):
    error = refused(write_reference(tmp_path, SOFTMAX.replace("def forward", f"def {method}")))
    assert error.fix == fix
    assert error.where.endswith("softmax.py:5")


@pytest.mark.parametrize(
    "text",
    [
        SOFTMAX.replace("class Model(nn.Module)", "class Model(Base)").replace("def forward", "def compute"),
        SOFTMAX.replace("class Model", "class Base") + "\nclass Model(Base):\n    pass\n",
        SOFTMAX.replace("def forward", "def compute")
        .replace("scale = 2", "scale = 2")
        .replace("    def compute", "    forward = torch.relu\n    def compute"),
    ],
    ids=["foreign base", "own base", "assigned"],
)
def test_forward_may_come_from_elsewhere(tmp_path, text):
    assert load_task(write_reference(tmp_path, text)).name == "softmax"


def test_own_bases_without_forward_are_seen_through(tmp_path):
    text = SOFTMAX.replace("class Model", "class Base").replace("def forward", "def compute")
    assert "forward" in refused(write_reference(tmp_path, text + "\nclass Model(Base):\n    pass\n")).what


def test_paths_that_are_no_tasks_say_so(tmp_path):
    write_reference(tmp_path)
    assert refused(tmp_path / "sofmax.py").fix == f"Did you mean {tmp_path / 'softmax.py'}?"
    assert "does not exist either" in refused(tmp_path / "no" / "t.py").fix
    assert "no task.toml" in refused(tmp_path).what
    assert ".py file or a folder" in refused(write_reference(tmp_path, name="t.txt")).what


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"import torch\0\n"])
def test_binary_files_are_refused(tmp_path, content):
    path = tmp_path / "t.py"
    path.write_bytes(content)
    assert "Is this the right file?" in refused(path).fix


def test_a_python_path_that_is_unreadable_is_refused(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    assert "Permission denied" in refused(write_reference(tmp_path)).what


def test_what_looks_like_a_suite_and_is_none_is_named():
    assert "no suite named 'suite' is known here" in refused("suite:kernelbench/1/19").what
