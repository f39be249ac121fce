"""Which file of a folder answers which problem."""

import pytest

from kernelwright.tasks import TaskError
from kernelwright.tasks.suites import find_solutions, select

from .made_up_suites import kernelbench, robust


@pytest.fixture
def level1(tmp_path):
    return select("kernelbench:1", kernelbench(tmp_path / "suite"))[1]


@pytest.fixture
def folder(tmp_path):
    def write(*names):
        for name in names:
            path = tmp_path / "solutions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        return tmp_path / "solutions"

    return write


def answers(folder, problems):
    return [(found.problem, found.sample, found.path.name) for found in find_solutions(folder, problems).found]


def test_the_run_layout_names_level_problem_and_sample(level1, folder):
    run = folder(
        "level_1_problem_19_sample_3_kernel.py",
        "level_1_problem_19_sample_0_kernel.py",
        "level_1_problem_2_sample_0_kernel.py",
        "level_1_problem_2_sample_0_prompt.txt",
    )
    assert answers(run, level1) == [
        ("1/2", 0, "level_1_problem_2_sample_0_kernel.py"),
        ("1/19", 0, "level_1_problem_19_sample_0_kernel.py"),
        ("1/19", 3, "level_1_problem_19_sample_3_kernel.py"),
    ]


def test_plain_files_are_named_by_level_and_number(level1, folder):
    plain = folder("1/2.py", "1/19_abs.py", "1/19_abs_again.py", "level1/100_Zero.py")
    assert answers(plain, level1) == [
        ("1/2", 0, "2.py"),
        ("1/19", 0, "19_abs.py"),
        ("1/19", 1, "19_abs_again.py"),
        ("1/100", 0, "100_Zero.py"),
    ]


def test_a_number_is_not_the_beginning_of_another(level1, folder):
    assert [found[0] for found in answers(folder("1/190.py", "1/2x.py", "1/1.py", "1/19.py"), level1)] == [
        "1/2",
        "1/19",
    ]


def test_files_for_other_problems_are_told_apart(level1, folder):
    found = find_solutions(folder("1/2.py", "2/3.py", "notes/ideas.py", "utils.py"), level1)
    assert [path.name for path in found.others] == ["3.py", "ideas.py", "utils.py"]


def test_solutions_by_name(tmp_path, folder):
    problems = select("robust", robust(tmp_path / "suite"))[1]
    named = folder("scaled/forward.py", "scaled/backward_1.py", "scaled/backward_0.py", "borrowed/level_1/task_7.py")
    assert [found[:2] for found in answers(named, problems)] == [
        ("borrowed/level_1/task_7", 0),
        ("scaled", 0),
        ("scaled/backward", 0),
        ("scaled/backward", 1),
    ]


def test_a_folder_with_nothing_for_these_problems(level1, folder):
    with pytest.raises(TaskError) as caught:
        find_solutions(folder("2/3.py"), level1)
    assert "3 problems" in caught.value.what
    assert "2/3.py" in caught.value.what
    assert "level_1_problem_2_sample_0_kernel.py" in caught.value.fix


def test_a_folder_that_does_not_exist(level1, tmp_path):
    with pytest.raises(TaskError, match="no such folder"):
        find_solutions(tmp_path / "nowhere", level1)
