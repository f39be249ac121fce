"""Suites are found where users put them, and their problems become tasks."""

import json
import sys
from pathlib import Path

import pytest

from kernelwright.tasks import TaskError, load_task
from kernelwright.tasks.suites import VARIABLE, Address, find_suites, load_problem, select

from .made_up_suites import PROBLEMS, committed, dataset, kernelbench, problem, robust

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _nothing_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def place(tmp_path):
    """A folder that holds two checkouts."""
    committed(kernelbench(tmp_path / "suites" / "kb"), COMMIT)
    robust(tmp_path / "suites" / "rkb")
    return tmp_path / "suites"


def refused(text, **options):
    with pytest.raises(TaskError) as caught:
        load_task(text, **options)
    return caught.value


def test_a_folder_of_checkouts_is_looked_through(place):
    found = {suite.name: suite for suite in find_suites(place)}
    assert found.keys() == {"kernelbench", "robust"}
    assert found["kernelbench"].version == COMMIT[:12]
    assert found["robust"].version == ""
    assert found["kernelbench"].groups() == {"1": 3, "2": 1}
    assert found["robust"].groups() == {"borrowed/level_1": 1, "others": 2}


def test_a_checkout_itself_may_be_named(place):
    assert [suite.name for suite in find_suites(place / "kb")] == ["kernelbench"]


def test_the_environment_names_folders(place, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(place))
    assert load_task("kernelbench:1/19").name == "19_Absolute"


def test_the_config_folder_is_looked_in_last_but_for_what_comes_along(place, monkeypatch, tmp_path):
    kernelbench(tmp_path / "config" / "kernelwright" / "suites" / "mine")
    assert [suite.root.name for suite in find_suites()] == ["mine", "everyday"]
    monkeypatch.setenv(VARIABLE, str(place))
    assert [suite.root.name for suite in find_suites()] == ["kb", "rkb", "mine", "everyday"]


def test_a_named_folder_is_the_only_one(place, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(place))
    (tmp_path / "empty").mkdir()
    assert find_suites(tmp_path / "empty") == []


def test_a_folder_that_cannot_be_looked_into_is_passed_over_beside_others_and_said_when_named(place, monkeypatch):
    (place / "locked").mkdir()
    look = Path.iterdir

    def guarded(path):
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return look(path)

    monkeypatch.setattr(Path, "iterdir", guarded)
    assert len(find_suites(place)) == 2
    assert "Permission denied" in refused("kernelbench:1/2", suite_dir=place / "locked").what


def test_a_problem_is_the_task_of_its_file(place):
    task = load_task("kernelbench:1/2", suite_dir=place)
    path = place / "kb" / "KernelBench" / "level1" / "2_Shifted_double.py"
    assert task == load_task(path)
    assert (task.mode, task.origin) == ("train", str(path))


def test_constants_and_mode_reach_the_problem(place):
    task = load_task("kernelbench:1/2", suite_dir=place, constants={"rows": "7"}, mode="eval")
    assert "\nrows = 7\n" in task.source
    assert task.mode == "eval"


def test_a_part_names_its_problems_in_the_order_of_numbers(place):
    _, problems = select("kernelbench:1", place)
    assert [found.id for found in problems] == ["1/2", "1/19", "1/100"]
    assert len(select("kernelbench", place)[1]) == len(PROBLEMS)
    assert len(select("KernelBench:2/", place)[1]) == 1


def test_a_part_is_no_task(place):
    error = refused("kernelbench:1", suite_dir=place)
    assert "3 problems" in error.what
    assert "kernelbench:1/2" in error.fix


def test_a_number_that_does_not_exist_names_those_that_do(place):
    error = refused("kernelbench:1/77", suite_dir=place)
    assert "'1/77'" in error.what
    assert "kernelbench:1/2 to kernelbench:1/100" in error.fix
    assert "1, 2" in refused("kernelbench:9", suite_dir=place).fix


def test_a_suite_that_is_not_there_says_where_to_put_it(tmp_path):
    error = refused("kernelbench:1/19", suite_dir=tmp_path)
    assert "not on this machine" in error.what
    assert VARIABLE in error.fix


def test_a_suite_that_nobody_knows(place):
    error = refused("kernelbensh:1/19", suite_dir=place)
    assert "no suite named 'kernelbensh' is known" in error.what
    assert "Did you mean 'kernelbench'" in error.fix


def test_a_place_that_does_not_exist(tmp_path, monkeypatch):
    assert "nowhere" in refused("kernelbench:1/19", suite_dir=tmp_path / "nowhere").what
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert VARIABLE in refused("kernelbench:1/19").what


def test_a_file_with_a_colon_in_its_name_is_still_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("robust:mine.py").write_text(problem("x + 1"))
    assert load_task("robust:mine.py").name == "robust:mine"


@pytest.mark.parametrize("text", ["kernelbench:1/19", "kernelbench:2", "kernelbench", "robust:layernorm#2"])
def test_addresses_are_written_as_they_are_read(text):
    assert str(Address.parse(text)) == text


@pytest.mark.parametrize("text", ["", ":1", "1/19", "kernelbench:1#two"])
def test_what_is_no_address_is_said(text):
    with pytest.raises(TaskError, match="names no part of a suite"):
        Address.parse(text)


# Datasets


def test_a_dataset_of_json_lines_holds_the_same_problems(place, tmp_path):
    path = dataset(tmp_path / "hub" / "data" / "level_1-00000-of-00001.jsonl")
    for where in (path, path.parents[1]):
        suite, problems = select("kernelbench:1", where)
        assert [found.id for found in problems] == ["1/2", "1/19", "1/100"]
        assert suite.version.startswith("sha256 ")
    mine, theirs = (load_task("kernelbench:1/19", suite_dir=where) for where in (path, place))
    assert (mine.hash, mine.name) == (theirs.hash, theirs.name)


def test_a_row_that_is_none_names_its_line(tmp_path):
    path = dataset(tmp_path / "level_1.jsonl")
    path.write_text(path.read_text() + "\n" + json.dumps({"code": 3, "level": 1, "name": "x"}) + "\n")
    error = refused("kernelbench:1/19", suite_dir=path)
    assert error.where.endswith("level_1.jsonl:6")
    assert "code and no problem_id" in error.what
    path.write_text("{")
    assert refused("kernelbench:1/19", suite_dir=path).where.endswith("level_1.jsonl:1")


def test_parquet_without_its_reader_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "level_1-00000-of-00001.parquet").write_bytes(b"PAR1")
    error = refused("kernelbench:1/19", suite_dir=tmp_path)
    assert "pyarrow" in error.what
    assert "pip install pyarrow" in error.fix


def test_parquet_is_read_where_its_reader_is_installed(tmp_path, monkeypatch):
    class Reader:
        @staticmethod
        def read_table(path):
            class Table:
                @staticmethod
                def to_pylist():
                    return [json.loads(line) for line in path.with_suffix(".txt").read_text().splitlines()]

            return Table

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", Reader)
    dataset(tmp_path / "level_1.txt")
    (tmp_path / "level_1.parquet").write_bytes(b"PAR1")
    assert load_task("kernelbench:1/19", suite_dir=tmp_path).name == "19_Absolute"


# Commits


def test_the_commit_of_a_worktree_is_found_through_its_file(tmp_path):
    kernelbench(tmp_path / "work")
    committed(tmp_path, COMMIT)
    beside = tmp_path / ".git" / "worktrees" / "work"
    beside.mkdir(parents=True)
    (beside / "HEAD").write_text("ref: refs/heads/side\n")
    (beside / "commondir").write_text("../..\n")
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / ".git" / "refs" / "heads" / "side").write_text("f" * 40)
    (tmp_path / "work" / ".git").write_text(f"gitdir: {beside}\n")
    assert find_suites(tmp_path / "work")[0].version == "f" * 12


def test_a_detached_commit_is_read_as_it_is(tmp_path):
    committed(kernelbench(tmp_path), COMMIT)
    (tmp_path / ".git" / "HEAD").write_text("a" * 40)
    assert find_suites(tmp_path)[0].version == "a" * 12


def test_loading_a_problem_loads_nothing_heavy(place):
    import subprocess

    code = (
        "import sys; from kernelwright.tasks import load_task; "
        f"load_task('kernelbench:1/19', suite_dir=__import__('pathlib').Path({str(place)!r})); "
        "print({'torch', 'pydantic', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_load_problem_is_what_load_task_uses(place):
    assert load_problem("kernelbench:1/19", suite_dir=place) == load_task("kernelbench:1/19", suite_dir=place)
