"""robust-kbench in KernelBench form: settings are constants, variants are tasks, backward returns gradients."""

import json
import types

import pytest
import torch

from kernelwright.tasks import Task, TaskError, input_bytes, load_task, shrink
from kernelwright.tasks.suites import select

from .made_up_suites import ROBUST, ROBUST_CONFIG, robust


@pytest.fixture
def checkout(tmp_path):
    return robust(tmp_path)


def loaded(task: Task) -> types.ModuleType:
    """The reference as the judge would run it; its author is this file."""
    module = types.ModuleType("reference")
    exec(task.source, vars(module))
    return module


def drawn(module, **constants):
    vars(module).update(constants)
    return module.get_inputs()


def rewrite(checkout, text=ROBUST, config=None):
    task = checkout / "tasks" / "scaled"
    (task / "func_forward.py").write_text(text)
    (task / "config_forward.json").write_text(json.dumps({**ROBUST_CONFIG, **(config or {})}))


def refused(checkout, text="robust:scaled"):
    with pytest.raises(TaskError) as caught:
        load_task(text, suite_dir=checkout)
    return caught.value


def test_ids_are_folders_and_backward_passes(checkout):
    _, problems = select("robust", checkout)
    assert [problem.id for problem in problems] == ["borrowed/level_1/task_7", "scaled", "scaled/backward"]
    assert [problem.id for problem in select("robust:scaled", checkout)[1]] == ["scaled"]


def test_every_way_to_construct_the_model_is_a_variant_once(checkout):
    (problem,) = select("robust:scaled", checkout)[1]
    tasks = problem.tasks()
    assert [task.name for task in tasks] == [f"scaled #{n} of 4" for n in (1, 2, 3, 4)]
    assert len({task.hash for task in tasks}) == 4
    made = [loaded(task).get_init_inputs() for task in tasks]
    assert made == [[16, 0.5, "wide"], [32, 0.5, "wide"], [16, 0.5, "narrow"], [32, 0.5, "narrow"]]
    assert load_task("robust:scaled#3", suite_dir=checkout) == tasks[2]
    assert load_task("robust:scaled", suite_dir=checkout) == tasks[0]


def test_a_variant_that_does_not_exist(checkout):
    error = refused(checkout, "robust:scaled#5")
    assert "no variant 5" in error.what
    assert "robust:scaled#4" in error.fix


def test_input_configurations_are_cases(checkout):
    task = load_task("robust:scaled#2", suite_dir=checkout)
    assert [case.name for case in task.cases] == ["batch=2", "batch=5"]
    assert [dict(case.constants) for case in task.cases] == [{"batch": 2, "tokens": 600}, {"batch": 5, "tokens": 600}]
    shapes = [drawn(loaded(task), **case.constants)[0].shape for case in task.cases]
    assert shapes == [(2, 600, 32), (5, 600, 32)]
    assert input_bytes(task) == 5 * 600 * 32 * 4


def test_the_model_runs_on_its_inputs(checkout):
    module = loaded(load_task("robust:scaled", suite_dir=checkout))
    (x,) = module.get_inputs()
    model = module.Model(*module.get_init_inputs())
    assert torch.equal(model(x), torch.tanh(x * model.weight) + 0.5)


def test_sizes_of_the_model_are_no_neighbours_and_are_not_shrunk(checkout):
    task = load_task("robust:scaled", suite_dir=checkout)
    assert {name.split("=")[0] for name in (case.name for case in task.neighbours)} == {"batch", "tokens"}
    smaller = shrink(task, 2)
    assert smaller is not None
    assert all("features" not in change for change in smaller.changes)


def test_constants_can_be_set_in_source_and_cases(checkout):
    task = load_task("robust:scaled", suite_dir=checkout, constants={"tokens": "9", "features": "24"})
    assert [case.constants["tokens"] for case in task.cases] == [9, 9]
    module = loaded(task)
    assert drawn(module, **task.cases[1].constants)[0].shape == (5, 9, 24)
    assert module.get_init_inputs()[0] == 24


def test_setting_what_told_cases_apart_leaves_one(checkout):
    task = load_task("robust:scaled", suite_dir=checkout, constants={"batch": "3"})
    assert [case.name for case in task.cases] == ["given"]
    assert loaded(task).get_inputs()[0].shape == (3, 600, 16)


def test_without_several_configurations_the_single_ones_are_used(checkout):
    single = {key: value for key, value in ROBUST_CONFIG.items() if key.startswith("single")}
    (checkout / "tasks" / "scaled" / "config_forward.json").write_text(json.dumps(single))
    task = load_task("robust:scaled", suite_dir=checkout)
    assert task.name == "scaled"
    assert loaded(task).get_inputs()[0].shape == (2, 600, 16)


def test_where_the_several_configurations_are_all_empty_the_single_ones_are_used(checkout):
    rewrite(checkout, config={f"multi_{part}_configs": [{}] for part in ("input", "init", "shared")})
    task = load_task("robust:scaled", suite_dir=checkout)
    assert task.name == "scaled"
    assert loaded(task).get_inputs()[0].shape == (2, 600, 16)


def test_backward_returns_gradients_of_inputs_and_parameters(checkout):
    module = loaded(load_task("robust:scaled/backward", suite_dir=checkout))
    x, grad_output = module.get_inputs()
    assert not x.requires_grad
    assert grad_output.shape == (2, 600, 16)
    model = module.Model(*module.get_init_inputs())
    with torch.no_grad():
        of_x, of_weight = model(x, grad_output)
    slope = (1 - torch.tanh(x * model.weight) ** 2) * grad_output
    assert torch.allclose(of_x, slope * model.weight, atol=1e-6)
    assert torch.allclose(of_weight, (slope * x).sum((0, 1)), atol=1e-3)
    assert set(model.state_dict()) == {"weight", "unused"}


def test_a_setting_that_nobody_gives(checkout):
    rewrite(checkout, config={"multi_shared_configs": [{}]})
    error = refused(checkout)
    assert "Model takes 'features'" in error.what
    assert "configuration" in error.fix


def test_a_parameter_that_get_inputs_changes(checkout):
    rewrite(checkout, ROBUST.replace("    x = torch.randn(", "    batch = batch + 1\n    x = torch.randn("))
    assert "assigns to its own parameter 'batch'" in refused(checkout).what


def test_a_setting_named_like_something_else(checkout):
    rewrite(checkout, ROBUST.replace("+ shift", "+ shift * tokens") + "\ntokens = 3\n")
    assert "'tokens', which is also a top-level name" in refused(checkout).what


def test_a_leftover_that_nobody_reads_gives_way_to_the_setting(checkout):
    rewrite(checkout, ROBUST + "\ntokens = (3,)\nshift = 9\n")
    module = loaded(load_task("robust:scaled", suite_dir=checkout, constants={"tokens": "7"}))
    assert module.get_inputs()[0].shape == (2, 7, 16)
    assert module.get_init_inputs() == [16, 0.5, "wide"]


def test_a_configuration_that_is_no_json_or_none(checkout):
    config = checkout / "tasks" / "scaled" / "config_forward.json"
    config.write_text("{\n,")
    assert refused(checkout).where.endswith("config_forward.json:2")
    config.write_text("[]")
    assert "no object" in refused(checkout).what
    config.write_text('{"multi_input_configs": 3}')
    assert "multi_input_configs" in refused(checkout).what
    config.unlink()
    assert "cannot be read" in refused(checkout).what
