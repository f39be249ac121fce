"""`init --project`: a first task.toml by looking at a project."""

import shutil
from pathlib import Path

import pytest

from kernelwright.tasks import TaskError, load_task, write_project
from tests.projects.made_up import project

EXAMPLES = Path(__file__).parents[2] / "examples" / "projects"


def plain(name: str, folder: Path) -> Path:
    """An example as it was before anybody thought of making it faster."""
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("candidates", "task.toml", "__pycache__"))
    for path in folder.rglob("*.*"):
        if path.suffix in (".py", ".cpp"):
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(line for line in lines if "EVOLVE" not in line))
    return folder


def test_a_cmake_project_is_built_tested_and_timed_by_what_it_has(tmp_path):
    _, found = write_project(plain("box_blur", tmp_path / "blur"))
    assert found.commands.build.startswith("cmake -S . -B build")
    assert found.commands.test == "ctest --test-dir build --output-on-failure"
    assert found.commands.benchmark == "build/bench_blur"
    assert [(one.file, one.name, one.loops) for one in found.functions] == [("src/blur.cpp", "box", 4)]


@pytest.mark.parametrize(
    ("name", "function", "source"),
    [
        ("box_blur", "box", "src/blur.cpp"),
        ("nearest", "nearest", "nearest/search.py"),
        ("tiny_transformer", "model.py:22", "model.py"),
    ],
)
def test_a_marked_function_makes_a_task_that_loads(tmp_path, name, function, source):
    folder = plain(name, tmp_path / name)
    before = (folder / source).read_text()
    write_project(folder, function)
    loaded = load_task(folder).project
    (region,) = loaded.regions
    assert region.file == source
    assert region.text in before
    assert region.text.strip().startswith(("void box", "def "))
    assert loaded.with_candidate(region.text)[source] == (folder / source).read_text()


def test_pytest_benchmark_is_recognised(tmp_path):
    folder = project(tmp_path)
    (folder / "task.toml").unlink()
    (folder / "bench.py").unlink()
    (folder / "tests").mkdir()
    (folder / "tests" / "test_speed.py").write_text("def test_speed(benchmark):\n    benchmark(len, [])\n")
    _, found = write_project(folder)
    assert found.commands.output == "pytest-benchmark"
    assert "{output}" in found.commands.benchmark
    assert load_task(folder).project.output == "pytest-benchmark"


def test_what_is_there_is_not_overwritten_and_what_is_missing_is_named(tmp_path):
    with pytest.raises(TaskError, match="already holds"):
        write_project(project(tmp_path / "sums"))
    with pytest.raises(TaskError, match="no such folder"):
        write_project(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TaskError, match="holds no C"):
        write_project(tmp_path / "empty")
    (tmp_path / "sums" / "task.toml").unlink()
    with pytest.raises(TaskError, match=r"no function 'square'.*\n.*Did you mean 'squares'"):
        write_project(tmp_path / "sums", "square")


def test_a_task_without_a_benchmark_asks_for_one(tmp_path):
    folder = project(tmp_path)
    for name in ("task.toml", "bench.py"):
        (folder / name).unlink()
    write_project(folder)
    with pytest.raises(TaskError, match="benchmark is empty"):
        load_task(folder)
