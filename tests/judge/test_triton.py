"""Triton kernels judged for real, in Triton's interpreter, on a machine that has no GPU."""

import importlib.util

import pytest

from kernelwright import native
from kernelwright.judge import InfraError, Status
from kernelwright.tasks import load_task

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed: pip install 'kernelwright[triton]'"
)

REFERENCE = """\
import torch
import torch.nn as nn

rows = 12
cols = 40


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x * 0.5, dim=-1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
"""

SOFTMAX = """\
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    values = tl.load(x + row * cols + at, mask=inside, other=-float("inf")) * 0.5
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * cols + at, weights / tl.sum(weights, axis=0), mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
"""
COPY = """\
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        done = torch.softmax(x * 0.5, dim=-1)
        y = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 256),)](done, y, x.numel(), BLOCK=256)
        return RESULT
"""


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    """As on a machine without one, wherever these tests run."""
    monkeypatch.setattr(native, "gpu", lambda: None)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tmp_path_factory.mktemp("tasks") / "softmax.py"
    path.write_text(REFERENCE)
    return load_task(path)


@pytest.fixture
def judged(small_judge, task):
    return lambda source, **more: small_judge.judge(task, source, **more)


@needs_triton
def test_an_honest_kernel_is_accepted_untimed_and_the_message_says_why(judged):
    verdict = judged(SOFTMAX)
    assert (verdict.status, verdict.accepted, verdict.checked) == (Status.UNTIMED, True, True), verdict.message
    assert "interpreter" in verdict.message
    assert "not timed: this machine has no GPU" in verdict.message
    assert verdict.speedup == verdict.time_ms == {}
    assert verdict.coverage is None
    assert verdict.specialised is False
    (work,) = verdict.evidence["work"].values()
    assert work["launches"] == 1
    assert work["operators"] == {}
    assert work["reference_operators"]["_softmax"] == 12 * 40
    assert verdict.evidence["backend"] == "triton"


AUTOTUNED = SOFTMAX.replace(
    "@triton.jit",
    "@triton.autotune(configs=[triton.Config({}, num_warps=n) for n in (1, 4)], key=['cols'])\n@triton.jit",
)


@needs_triton
def test_an_autotuned_kernel_is_run_with_one_of_its_settings(judged):
    verdict = judged(AUTOTUNED)
    assert verdict.status is Status.UNTIMED, (verdict.message, verdict.evidence.get("trace"))


WRONG = {
    "the last column left out": SOFTMAX.replace("at < cols", "at < cols - 1"),
    "no maximum subtracted": SOFTMAX.replace(" - tl.max(values, axis=0)", ""),
    "one row too few": SOFTMAX.replace("(x.shape[0],)", "(x.shape[0] - 1,)"),
    "a constant a little off": SOFTMAX.replace("* 0.5", "* 0.501"),
}


@needs_triton
@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_wrong_in_the_interpreter_too(judged, source):
    assert judged(source).status is Status.WRONG_VALUE


@needs_triton
def test_a_kernel_that_writes_to_its_input_is_caught(judged):
    verdict = judged(SOFTMAX.replace("mask=inside)\n\n", "mask=inside)\n    tl.store(x + at, values, mask=inside)\n\n"))
    assert verdict.status is Status.INPUT_MUTATED


CHEATS = {
    "torch does the work and a kernel copies it": COPY.replace("RESULT", "y"),
    "a kernel whose result is dropped": COPY.replace("RESULT", "done"),
    "a kernel that is never launched": SOFTMAX.replace(
        "        softmax_kernel[", "        y = torch.softmax(x * 0.5, -1)\n        None and softmax_kernel["
    ),
    "torch inside the kernel": COPY.replace("RESULT", "y")
    .replace("BLOCK: tl.constexpr):", "source, BLOCK: tl.constexpr):\n    torch.softmax(source * 0.5, dim=-1)")
    .replace("x.numel(), BLOCK=256", "x.numel(), x, BLOCK=256"),
}


@needs_triton
@pytest.mark.parametrize("source", CHEATS.values(), ids=CHEATS)
def test_leaving_the_work_to_torch_is_not_accepted(judged, source):
    verdict = judged(source)
    assert not verdict.accepted
    assert verdict.status in (Status.LIBRARY_ONLY, Status.CRASH), verdict.message


@needs_triton
def test_a_candidate_that_insists_on_a_gpu_is_told_where_it_runs(judged):
    verdict = judged(SOFTMAX.replace("torch.empty_like(x)", "torch.empty(x.shape, device='cuda')"))
    assert verdict.status is Status.CRASH
    assert "interpreter: its tensors are on the CPU" in verdict.message


@needs_triton
def test_the_backend_asked_for_does_not_change_how_it_runs(judged):
    assert judged(SOFTMAX, backend="python").status is Status.UNTIMED


def test_without_triton_nobody_is_blamed(judged, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InfraError, match="needs the backend triton: triton is not installed") as caught:
        judged(SOFTMAX)
    assert caught.value.fix == "pip install 'kernelwright[triton]'"
