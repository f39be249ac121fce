"""pytest-benchmark and hyperfine themselves, run by the judge in its cage: what they write is what is read."""

import shutil
from pathlib import Path

import pytest

from kernelwright.judge import Status
from kernelwright.tasks import Task, load_task
from tests.projects.conftest import Judged
from tests.projects.made_up import FAST, TOML, project

pytestmark = pytest.mark.oracles

COMMAND = 'benchmark = "python bench.py {size} {seed}"'
SPEED = """\
import os

from sums import squares


def test_squares(benchmark):
    size, seed = int(os.environ["SIZE"]), int(os.environ["SEED"])
    benchmark.extra_info["check"] = benchmark.pedantic(squares, args=(size, seed), rounds=3)
"""
PYTEST_BENCHMARK = '''\
benchmark = "SIZE={size} SEED={seed} python -m pytest -q speed.py --benchmark-json={output}"
output = "pytest-benchmark"'''
HYPERFINE = """\
benchmark = "%s -N --runs 3 --export-json {output} 'python bench.py {size} {seed}'"
output = "hyperfine"
folders = ["%s"]"""


def _task_with(folder: Path, benchmark: str, **files: str) -> Task:
    """Calls so long that starting an interpreter is little beside them."""
    text = TOML.replace(COMMAND, benchmark).replace("400000", "4000000")
    return load_task(project(folder / "sums", task_dot_toml=text, **files))


def test_pytest_benchmark_is_read_with_its_check(judged: Judged, tmp_path: Path) -> None:
    pytest.importorskip("pytest_benchmark")
    task = _task_with(tmp_path, PYTEST_BENCHMARK, speed_dot_py=SPEED)
    verdict = judged(FAST, task, timed=True)
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.evidence["project"]["results_checked"]
    assert verdict.evidence["witness"]["long"]["claimed_speedup"] > 10


def test_hyperfine_is_read(judged: Judged, tmp_path: Path) -> None:
    """It times whole commands and says nothing of their results, which the verdict tells."""
    program = shutil.which("hyperfine")
    if program is None:
        pytest.skip("hyperfine is not installed: apt-get install hyperfine")
    task = _task_with(tmp_path, HYPERFINE % (program, Path(program).parent))
    verdict = judged(FAST, task, timed=True)
    assert verdict.status is Status.CORRECT, verdict.message
    assert not verdict.evidence["project"]["results_checked"]
    assert verdict.evidence["witness"]["long"]["claimed_speedup"] > 1.5
