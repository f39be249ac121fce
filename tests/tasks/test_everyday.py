"""The suite that comes with the package: every task is there, says what it is, and can be told from no task at all."""

import re
import shutil
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import torch

import kernelwright
from kernelwright.tasks import TaskError, load_task
from kernelwright.tasks._draw import draw_input
from kernelwright.tasks.suites import VARIABLE, Quality, _everyday, find_suites, open_suite, select

from .made_up_suites import kernelbench

PACKAGE = Path(kernelwright.__file__).parent
FOLDER = PACKAGE / "tasks" / "suites" / "everyday"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PAGE = PROJECT.parent / "docs" / "suites.md"
PROBLEMS = open_suite("everyday").problems

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.id)


@pytest.fixture
def _nothing_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(VARIABLE, raising=False)


# The suite


def test_there_are_many_tasks_of_many_kinds_each_under_a_name_of_its_own():
    suite = open_suite("everyday")
    names = Counter(problem.id for problem in suite.problems)
    assert len(names) >= 40
    assert set(names.values()) == {1}
    assert len(suite.groups()) >= 15
    assert not names.keys() & suite.groups().keys()


def test_every_folder_is_a_problem():
    folders = {path.name for path in FOLDER.glob("*/*") if path.name != "__pycache__"}
    assert folders == {problem.id for problem in PROBLEMS}


def test_every_file_travels_with_the_package():
    patterns = tomllib.loads(PROJECT.read_text())["tool"]["setuptools"]["package-data"]["kernelwright"]
    shipped = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    files = {path for path in FOLDER.rglob("*") if path.is_file() and path.parent.name != "__pycache__"}
    assert len(files) == 2 * len(PROBLEMS)
    assert files <= shipped


def test_the_page_names_every_task():
    page = PAGE.read_text()
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+` ?)+) \|$", page, re.MULTILINE)
    kinds = {
        kind: [problem.id for problem in PROBLEMS if problem.part == kind] for kind in open_suite("everyday").groups()
    }
    assert {kind: names.replace("`", "").split() for kind, names in rows} == kinds
    assert f"{len(PROBLEMS)} short computations" in page


@pytest.mark.usefixtures("_nothing_elsewhere")
def test_it_is_found_with_no_checkout_and_after_the_users_own(tmp_path, monkeypatch):
    assert [suite.name for suite in find_suites()] == ["everyday"]
    monkeypatch.setenv(VARIABLE, str(kernelbench(tmp_path / "kb")))
    assert [suite.name for suite in find_suites()] == ["kernelbench", "everyday"]


def test_a_folder_that_is_named_is_the_only_one_looked_at(tmp_path):
    with pytest.raises(TaskError) as caught:
        load_task("everyday:bias_gelu", suite_dir=tmp_path)
    assert "comes with kernelwright" in caught.value.what
    assert "--suite-dir" in caught.value.fix


def test_a_name_is_a_task_and_a_kind_is_several():
    assert load_task("everyday:bias_gelu").name == "bias_gelu"
    _, problems = select("everyday:pointwise")
    assert {problem.part for problem in problems} == {"pointwise"}
    assert len(problems) > 1
    assert len(select("everyday")[1]) == len(PROBLEMS)


def test_a_name_that_does_not_exist_names_what_is_meant():
    with pytest.raises(TaskError) as caught:
        load_task("everyday:bias_gello")
    assert "Did you mean 'bias_gelu'" in caught.value.fix
    with pytest.raises(TaskError) as caught:
        load_task("everyday:losses")
    assert "Did you mean 'loss'" in caught.value.fix


def test_sizes_can_be_set_from_outside():
    task = load_task("everyday:bias_gelu", constants={"tokens": "8"})
    assert {case.inputs[0].shape[0] for case in task.cases} == {8}


def test_the_version_is_that_of_the_files(tmp_path, monkeypatch):
    copy = shutil.copytree(FOLDER, tmp_path / "everyday")
    monkeypatch.setattr(_everyday, "FOLDER", copy)
    before = open_suite("everyday").version
    table = copy / "pointwise" / "bias_gelu" / "task.toml"
    table.write_text(table.read_text().replace("tokens = 512", "tokens = 511"))
    assert open_suite("everyday").version != before


def test_the_audit_that_comes_along_is_of_this_version_and_flags_nothing():
    audited = Quality.shipped("everyday", open_suite("everyday").version)
    assert audited is not None, "tasks have changed: audit the suite again, as docs/suites.md says"
    assert {key for key, _ in audited.findings} == {problem.id for problem in PROBLEMS}
    assert {finding.status for finding in audited.findings.values()} == {"clean"}


# Every task


@each_problem
def test_it_says_in_a_sentence_what_it_is(problem):
    assert problem.title.endswith(".")
    assert "\n" not in problem.title
    assert problem.title != problem.id


@each_problem
def test_its_cases_have_other_shapes_and_one_counts_most(problem):
    task = _task(problem)
    shapes = [tuple(spec.shape for spec in case.inputs) for case in task.cases]
    assert len(set(shapes)) == len(shapes) >= 2
    assert task.cases[0].weight > max(case.weight for case in task.cases[1:])
    assert task.neighbours


@each_problem
def test_its_reference_answers_the_same_again_and_otherwise_on_other_inputs(problem):
    model, (first, second) = _model(problem), [_drawn(problem, seed) for seed in (1, 2)]
    answer = _leaves(model(*first))
    assert all(torch.equal(one, again) for one, again in zip(answer, _leaves(model(*first)), strict=True))
    assert not any(torch.equal(one, other) for one, other in zip(answer, _leaves(model(*second)), strict=True))
    assert all(leaf.isfinite().all() for leaf in answer)


@each_problem
def test_its_reference_computes_the_same_in_double_precision(problem):
    """What the judge takes for right: a reference that fixes a dtype has no better answer."""
    model, inputs = _model(problem), _drawn(problem, 1)
    plain = _leaves(model(*inputs))
    wide = _leaves(_model(problem).double()(*(x.double() if x.is_floating_point() else x for x in inputs)))
    for one, exact in zip(plain, wide, strict=True):
        assert exact.dtype == (torch.float64 if one.is_floating_point() else one.dtype)
        scale = exact.double().square().mean().sqrt()
        assert float(((one.double() - exact.double()) / scale).square().mean().sqrt()) < 1e-3


@cache
def _task(problem):
    return problem.task()


def _model(problem):
    torch.manual_seed(0)
    named = {}
    exec(compile(_task(problem).source, f"{problem.id}/reference.py", "exec"), named)
    return named["Model"](*_task(problem).init).eval().requires_grad_(False)


def _drawn(problem, seed):
    generator = torch.Generator().manual_seed(seed)
    return [draw_input(spec, generator) for spec in _task(problem).cases[0].inputs]


def _leaves(result):
    return list(result) if isinstance(result, tuple) else [result]
