"""What the command line says of candidates for a GPU on a machine that has none."""

import importlib.util
import json
import shutil

import pytest

from kernelwright import native
from kernelwright.native import _nvcc
from tests.judge.test_cuda_gate import RELU
from tests.judge.test_triton import REFERENCE, SOFTMAX
from tests.judge.texts import relu_folder, task_folder

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed: pip install 'kernelwright[triton]'"
)


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    """As on a machine without one, wherever these tests run."""
    monkeypatch.setattr(native, "gpu", lambda: None)
    monkeypatch.setattr(_nvcc, "gpu", lambda: None)


@pytest.fixture
def relu(tmp_path):
    candidate = tmp_path / "relu.py"
    candidate.write_text(RELU)
    return relu_folder(tmp_path), candidate


@pytest.fixture
def softmax(tmp_path):
    candidate = tmp_path / "softmax.py"
    candidate.write_text(SOFTMAX)
    return task_folder(tmp_path / "softmax", REFERENCE, ""), candidate


@needs_nvcc
def test_what_only_compiled_is_neither_accepted_nor_rejected(one_judge, relu, invoke, tmp_path):
    told, claim = tmp_path / "verdict.json", tmp_path / "claim.json"
    result = invoke("eval", *relu, "--json", told, "--certificate", claim)
    assert result.exit_code == 2, result.output
    assert "? UNTIMED" in result.output
    assert "nothing was run or checked" in result.output
    assert "machine with a GPU" in result.output
    assert json.loads(told.read_text())["accepted"] is False
    assert not claim.exists()


@needs_triton
def test_an_interpreted_kernel_is_accepted_and_shown_with_its_launches(one_judge, softmax, invoke):
    result = invoke("eval", *softmax)
    assert result.exit_code == 0, result.output
    assert "✔ UNTIMED" in result.output
    assert "1 kernel launches a call, torch computes nothing beside them" in result.output


def test_a_missing_triton_is_said_with_the_command_that_helps(one_judge, softmax, cannot_judge, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    cannot_judge("eval", *softmax, names=["triton is not installed"], fix="pip install 'kernelwright[triton]'")


def test_a_missing_nvcc_is_said_with_the_command_that_helps(one_judge, relu, cannot_judge, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    cannot_judge("eval", *relu, names=["no CUDA compiler found"], fix="apt-get install nvidia-cuda-toolkit")


@needs_nvcc
def test_doctor_says_what_can_be_done_for_gpus_and_what_more_would_take(one_judge, invoke):
    output = invoke("doctor").output
    assert "candidates are compiled for sm_90, not run and not checked: this machine has no GPU" in output
    assert "more: judge on a machine with an NVIDIA GPU" in output
    assert "triton" in output
