import ast

import pytest

from kernelwright.tasks import Task, TaskError, load_task, write_template


def test_the_template_is_a_task_with_two_cases(tmp_path):
    written = write_template(tmp_path / "new" / "softmax")
    assert [path.name for path in written] == ["task.toml", "reference.py", "candidate.py", "README.md"]
    task = load_task(tmp_path / "new" / "softmax")
    assert isinstance(task, Task)
    assert [case.name for case in task.cases] == ["large", "ragged"]
    assert len(task.neighbours) == 4


def test_the_candidate_defines_the_model_and_its_kernel(tmp_path):
    text = write_template(tmp_path)[2].read_text()
    assert [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)] == ["ModelNew"]
    assert 'extern "C" void softmax(' in text


def test_the_readme_names_commands_for_this_folder(tmp_path):
    text = write_template(tmp_path)[3].read_text()
    assert f"kernelwright eval {tmp_path} {tmp_path}/candidate.py" in text
    assert "{" not in text


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "task.toml").write_text("mine")
    with pytest.raises(TaskError, match=r"already holds task\.toml"):
        write_template(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["task.toml"]
    assert (tmp_path / "task.toml").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(TaskError, match="not a folder"):
        write_template(tmp_path / "x")
