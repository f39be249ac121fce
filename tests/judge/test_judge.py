"""What a judgement promises beyond its status: fresh trials, redrawn weights, every case, the task's mode."""

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.judge import Judge, Status
from kernelwright.tasks import load_task
from tests.judge.texts import EIGHT, REFERENCE, RELU, TASKS, forward, relu, task_folder


def seeds(verdict) -> list[int]:
    return [trial["seed"] for trial in verdict.evidence["check"]["trials"]]


# Trials


def test_two_judgements_share_old_trials_and_get_a_fresh_one_each(small_judge, relu_task):
    one, two = (small_judge.judge(relu_task, RELU, timed=False) for _ in range(2))
    assert seeds(one)[:-1] == seeds(two)[:-1]
    assert seeds(one)[-1] != seeds(two)[-1]
    assert len(set(seeds(one))) == len(seeds(one))


@pytest.mark.slow
def test_the_same_master_seed_comes_to_the_same_trials_again(small_judge, eight_task):
    small_judge.forget(eight_task)  # its trials are counted from its first
    first = small_judge.judge(eight_task, EIGHT, timed=False)
    with Judge(seed=first.evidence["seed"], reveal_seeds=True) as again:
        second = again.judge(eight_task, EIGHT, timed=False)
    assert seeds(second) == seeds(first)
    assert second.evidence["weights_seed"] == first.evidence["weights_seed"]


def test_who_is_wrong_on_wild_inputs_once_it_is_timed_is_found(small_judge, relu_task):
    """After so many calls on tame inputs it takes itself to be timed. Trials may come too early once, not twice."""
    source = relu(
        "static int tame; static bool wild;"
        "if (i == 0) { wild = false; for (int64_t k = 0; k < n; k++) wild |= x[k] > 20; tame += !wild; }"
        "y[i] = x[i] > 0 && !(wild && tame > 6) ? x[i] : 0;"
    )
    found = [small_judge.judge(relu_task, f"{source}# {number}\n") for number in range(2)]
    assert any(verdict.stage == "time" and not verdict.accepted for verdict in found)


def test_a_verdict_names_task_candidate_and_machine(small_judge, relu_task):
    verdict = small_judge.judge(relu_task, RELU, timed=False)
    assert verdict.task == relu_task.hash
    assert len(verdict.candidate) == 64
    assert verdict.machine["cores"] >= 1
    assert verdict.seconds["total"] >= verdict.seconds["check"]


def test_every_value_family_is_tried(small_judge, relu_task):
    verdict = small_judge.judge(relu_task, RELU, timed=False)
    tried = {trial["trial"].partition("/")[2] for trial in verdict.evidence["check"]["trials"]}
    assert tried >= {"given", "heavy", "spikes", "large", "small"}


# Sizes


def test_a_general_kernel_is_not_specialised(small_judge, relu_task):
    verdict = small_judge.judge(relu_task, RELU, timed=False)
    assert verdict.specialised is False
    assert verdict.evidence["neighbours"]
    assert all(verdict.evidence["neighbours"].values())


HARD_CODED = {
    "too few elements": RELU.replace("x.numel()", "300 * 401"),
    "an assertion": RELU.replace("        y = ", "        assert x.shape == (300, 401)\n        y = "),
    "a crash": RELU.replace(
        "        y = ", "        import os\n        x.shape == (300, 401) or os._exit(1)\n        y = "
    ),
}


@pytest.mark.parametrize("source", HARD_CODED.values(), ids=HARD_CODED)
def test_a_kernel_that_knows_one_size_is_accepted_and_called_specialised(small_judge, relu_task, source):
    verdict = small_judge.judge(relu_task, source, timed=False)
    assert verdict.status is Status.UNTIMED
    assert verdict.specialised is True
    assert not all(verdict.evidence["neighbours"].values())


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """The cases of softmax_sizes, where torch may do the work."""
    folder = TASKS / "softmax_sizes"
    settings = 'library = "allowed"\n' + (folder / "task.toml").read_text()
    return load_task(
        task_folder(tmp_path_factory.mktemp("tasks") / "sizes", (folder / "reference.py").read_text(), settings)
    )


SOFTMAX = "return torch.softmax(x, dim=-1)"


def test_every_case_of_a_folder_is_judged(small_judge, sizes):
    verdict = small_judge.judge(sizes, forward(SOFTMAX), timed=False)
    assert verdict.status is Status.UNTIMED
    tried = {trial["trial"].partition("/")[0] for trial in verdict.evidence["check"]["trials"]}
    assert tried == {"even", "odd", "short"}
    assert verdict.evidence["work"].keys() == tried


def test_a_kernel_that_is_wrong_on_one_case_is_wrong(small_judge, sizes):
    verdict = small_judge.judge(sizes, forward(SOFTMAX + " * (1.01 if x.shape[1] == 7 else 1)"), timed=False)
    assert verdict.status is Status.WRONG_VALUE
    assert verdict.evidence["trial"].startswith("short/")


@pytest.mark.slow
def test_several_outputs_of_one_size_are_told_apart_while_timing(small_judge, tmp_path):
    """Each timed result is held against its own counterpart."""
    task = load_task(task_folder(tmp_path / "mean_std", (TASKS / "mean_std.py").read_text()))
    verdict = small_judge.judge(task, forward("return x.mean(dim=-1), x.std(dim=-1)"))
    assert verdict.status is Status.CORRECT, verdict.message


# Weights

LAYERNORM = """\
import torch
import torch.nn.functional as F


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)
        PREPARE

    def forward(self, x):
        return COMPUTE
"""
LAYERNORM_TASK = """\
import torch


class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return [40]
"""


def layernorm(compute: str, prepare: str = "pass") -> str:
    return LAYERNORM.replace("COMPUTE", compute).replace("PREPARE", prepare)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    return load_task(task_folder(tmp_path_factory.mktemp("tasks") / "frozen", LAYERNORM_TASK))


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    settings = 'library = "allowed"\nweights = "live"\n'
    return load_task(task_folder(tmp_path_factory.mktemp("tasks") / "live", LAYERNORM_TASK, settings))


PACKED = "F.layer_norm(x, (40,), *self.packed)"
EARLY = "self.packed = (self.norm.weight.detach().clone(), self.norm.bias.detach().clone())"
LAZY = layernorm(PACKED).replace("return F", f"if not hasattr(self, 'packed'):\n            {EARLY}\n        return F")


def test_weights_given_by_the_judge_are_used(small_judge, frozen):
    assert small_judge.judge(frozen, layernorm("self.norm(x)"), timed=False).status is Status.UNTIMED


@pytest.mark.parametrize("compute", ["F.layer_norm(x, (40,))", "F.layer_norm(x, (40,), self.norm.weight)"])
def test_no_weight_is_one_or_zero_by_convention(small_judge, frozen, compute):
    """A norm that ignores its weight or bias is right with PyTorch's initial values, and wrong."""
    assert small_judge.judge(frozen, layernorm(compute), timed=False).status is Status.WRONG_VALUE


def test_weights_packed_before_they_are_given_are_wrong(small_judge, frozen):
    assert small_judge.judge(frozen, layernorm(PACKED, EARLY), timed=False).status is Status.WRONG_VALUE


def test_weights_packed_at_the_first_call_are_fine_where_they_are_frozen(small_judge, frozen):
    assert small_judge.judge(frozen, LAZY, timed=False).status is Status.UNTIMED


def test_weights_packed_at_the_first_call_are_stale_where_they_live(small_judge, live):
    assert small_judge.judge(live, layernorm("self.norm(x)"), timed=False).status is Status.UNTIMED
    verdict = small_judge.judge(live, LAZY, timed=False)
    assert verdict.status is Status.STATEFUL
    assert "weights" in verdict.message


# Inputs and mode

GATHER = """\
import torch


class Model(torch.nn.Module):
    def forward(self, table, index, mask, scale):
        return torch.where(mask, table[index.long()], torch.zeros((), dtype=table.dtype)) * scale


def get_inputs():
    index = torch.randint(0, 50, (30,), dtype=torch.int32)
    return [torch.randn(50), index, torch.rand(30) > 0.5, 1.5]


def get_init_inputs():
    return []
"""


def test_integers_booleans_and_numbers_arrive_as_what_they_are(small_judge, tmp_path):
    task = load_task(task_folder(tmp_path / "gather", GATHER))
    source = forward(
        "assert (table.dtype, index.dtype, mask.dtype) == (torch.float32, torch.int32, torch.bool)",
        "assert type(scale) is float",
        "return torch.where(mask, table[index.long()], torch.zeros(())) * scale",
    ).replace("(self, x)", "(self, table, index, mask, scale)")
    verdict = small_judge.judge(task, source, timed=False)
    assert verdict.status is Status.UNTIMED, verdict.message


MODES = REFERENCE.replace("torch.tanh(x) * 2", "torch.tanh(x) * (2 if self.training else 3)")


@pytest.mark.parametrize(("mode", "factor", "other"), [("train", 2, 3), ("eval", 3, 2)])
def test_the_model_is_put_in_the_mode_of_the_task(small_judge, tmp_path, mode, factor, other):
    task = load_task(task_folder(tmp_path / "modes", MODES), mode=mode)
    for follows in ("(2 if self.training else 3)", str(factor)):
        source = forward(f"return torch.tanh(x) * {follows}")
        assert small_judge.judge(task, source, timed=False).status is Status.UNTIMED
    stubborn = forward(f"return torch.tanh(x) * {other}")
    assert small_judge.judge(task, stubborn, timed=False).status is Status.WRONG_VALUE


# Honesty about other candidates


def test_what_one_candidate_does_to_its_process_is_nothing_to_the_next(small_judge, relu_task):
    vandal = "import torch\ntorch.relu = torch.empty_like = None\n" + relu("y[i] = 0;")
    assert not small_judge.judge(relu_task, vandal, timed=False).accepted
    assert small_judge.judge(relu_task, RELU, timed=False).accepted


def test_a_forgotten_task_can_be_judged_again(small_judge, relu_task):
    small_judge.forget(relu_task)
    small_judge.forget(relu_task)
    assert small_judge.judge(relu_task, RELU, timed=False).accepted


def test_what_was_drawn_for_a_task_is_given_back_when_it_is_forgotten(small_judge, relu_task):
    """At once, not when Python next looks for garbage: to it a gigabyte of shared memory is one small object."""
    small_judge.forget(relu_task)
    gc.collect()
    gc.disable()
    try:
        before = drawn()
        assert small_judge.judge(relu_task, RELU).accepted
        assert drawn() > before
        small_judge.forget(relu_task)
        assert drawn() == before
    finally:
        gc.enable()


def drawn() -> int:
    """Pieces of shared memory that this process sees inputs and answers through."""
    maps = Path("/proc/self/maps").read_text()
    return maps.count("/memfd:inputs") + maps.count("/memfd:expected")


def test_one_task_is_prepared_once_whatever_may_be_called(small_judge, relu_task):
    """What is right does not depend on it; who may call what is a matter of the hearing."""
    forbidden, allowed = (replace(relu_task, library=library) for library in ("forbidden", "allowed"))
    assert small_judge.prepare(allowed) is small_judge.prepare(forbidden)
    asked = (forbidden, allowed, forbidden)
    found = [small_judge.judge(task, forward("return torch.relu(x)"), timed=False) for task in asked]
    assert [verdict.task for verdict in found] == [task.hash for task in asked]
    assert [verdict.status for verdict in found] == [Status.LIBRARY_ONLY, Status.UNTIMED, Status.LIBRARY_ONLY]


def test_a_judge_takes_over_from_one_that_retires_what_it_has_loaded_and_nothing_it_knows(relu_task):
    first = Judge(reveal_seeds=True)
    before = first.judge(relu_task, RELU, timed=False)
    template = first.retire()
    (template.scratch / "left behind").mkdir()
    (template.scratch / "left behind" / "a note").touch()
    with Judge(reveal_seeds=True, template=template) as second:
        assert second.template is template
        assert list(template.scratch.iterdir()) == []
        after = second.judge(relu_task, RELU, timed=False)
    assert (before.status, after.status) == (Status.UNTIMED, Status.UNTIMED)
    assert not set(seeds(before)) & set(seeds(after))


def test_unknown_baselines_are_refused_before_anything_starts():
    with pytest.raises(ValueError, match="psychic"):
        Judge(baselines=("psychic",))
