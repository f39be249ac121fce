"""CUDA candidates where there is nvcc and no GPU: compiled for real, and never taken for right."""

import shutil

import pytest

from kernelwright import native
from kernelwright.judge import InfraError, Status, certificate
from kernelwright.native import _nvcc

needs_nvrtc = pytest.mark.skipif(native.nvrtc() is None, reason="NVRTC is not installed (nvidia-cuda-nvrtc)")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")

RELU = '''\
import torch

from kernelwright import native

lib = native.cuda(r"""
extern "C" __global__ void relu_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}
extern "C" void relu(const float* x, float* y, int n, cudaStream_t stream) {
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.relu(x, y, x.numel())
        return y
'''
KERNEL = RELU[: RELU.index('extern "C" void')].replace('extern "C" ', "") + RELU[RELU.index('""")') :].replace(
    "lib.relu(", "lib.relu_kernel[1, 256]("
)
INLINE = '''\
import torch
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void relu_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

torch::Tensor relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    relu_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
extension = load_inline("relu", "torch::Tensor relu(torch::Tensor x);", source, functions=["relu"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.relu(x)
'''


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    """As on a machine without one, wherever these tests run."""
    monkeypatch.setattr(native, "gpu", lambda: None)
    monkeypatch.setattr(_nvcc, "gpu", lambda: None)


@pytest.fixture
def judged(small_judge, relu_task):
    return lambda source: small_judge.judge(relu_task, source)


@needs_nvcc
def test_what_compiles_is_untimed_and_not_accepted(judged):
    verdict = judged(RELU)
    assert (verdict.status, verdict.checked, verdict.accepted) == (Status.UNTIMED, False, False), verdict.message
    assert "compiles for sm_90" in verdict.message
    assert "nothing was run or checked" in verdict.message
    assert "this machine has no GPU" in verdict.message
    assert verdict.stage == "build"
    told = verdict.to_json()
    assert (told["accepted"], told["checked"]) == (False, False)
    assert (told["coverage"], told["speedup"]) == (None, {})


@needs_nvcc
def test_a_kernel_that_would_be_wrong_is_not_accepted_either(judged):
    verdict = judged(RELU.replace("y[i] = x[i] > 0 ? x[i] : 0", "y[i] = 7"))
    assert (verdict.status, verdict.accepted) == (Status.UNTIMED, False)


@needs_nvcc
def test_a_text_that_does_not_compile_is_a_compile_error_with_the_compilers_words(judged):
    verdict = judged(RELU.replace("int i =", "flaot i ="))
    assert verdict.status is Status.COMPILE_ERROR
    assert "kernel.cu(3): error" in verdict.message
    assert "flaot" in verdict.evidence["log"]
    assert "detected in the compilation" in verdict.evidence["log"]


@needs_nvcc
def test_an_error_swallowed_by_the_candidate_is_one_all_the_same(judged):
    swallowed = (
        RELU.replace("int i =", "flaot i =")
        .replace("lib = native", "try:\n    lib = native")
        .replace('""")', '""")\nexcept native.CompileError:\n    lib = None')
    )
    assert judged(swallowed).status is Status.COMPILE_ERROR


@needs_nvcc
def test_a_wrong_architecture_is_named_with_those_there_are(judged):
    verdict = judged(RELU.replace('""")', '""", flags="-arch=sm_20")'))
    assert verdict.status is Status.COMPILE_ERROR
    assert "cannot compile for 'sm_20'; it knows sm_" in verdict.message


@needs_nvcc
def test_an_architecture_of_ones_own_is_compiled_for(judged):
    verdict = judged(RELU.replace('""")', '""", flags="-arch=sm_90a")'))
    assert verdict.status is Status.UNTIMED
    assert "compiles for the architecture it names" in verdict.message


@needs_nvcc
def test_a_text_compiled_only_when_called_is_not_said_to_compile(judged):
    late = RELU.replace("lib = native.cuda(", "TEXT = (").replace("lib.relu", "native.cuda(TEXT).relu")
    verdict = judged(late)
    assert (verdict.status, verdict.accepted) == (Status.UNTIMED, False)
    assert "compiles no CUDA before it is called" in verdict.message


@needs_nvcc
def test_a_candidate_without_a_model_does_not_load(judged):
    assert judged(RELU.replace("ModelNew", "Model")).status is Status.LOAD_ERROR


@needs_nvcc
def test_the_text_cannot_read_what_the_cage_hides(judged, tmp_path):
    (tmp_path / "secret.h").write_text("int secret;")
    verdict = judged(RELU.replace('extern "C" __global__', f'#include "{tmp_path}/secret.h"\nextern "C" __global__', 1))
    assert verdict.status is Status.COMPILE_ERROR
    assert "secret.h" in verdict.message


@needs_nvcc
@pytest.mark.extensions
def test_an_extension_that_compiles_is_untimed_and_not_accepted(judged):
    verdict = judged(INLINE)
    assert (verdict.status, verdict.checked, verdict.accepted) == (Status.UNTIMED, False, False), verdict.message
    assert "compiles for sm_90" in verdict.message


@needs_nvcc
@pytest.mark.extensions
def test_an_extension_that_does_not_compile_is_a_compile_error_at_its_own_line(judged):
    verdict = judged(INLINE.replace("int i = blockIdx.x", "int i blockIdx.x"))
    assert verdict.status is Status.COMPILE_ERROR
    assert "cuda.cu(8): error" in verdict.message, verdict.message


@needs_nvrtc
def test_kernels_alone_are_compiled_without_nvcc(judged, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    verdict = judged(KERNEL)
    assert (verdict.status, verdict.checked) == (Status.UNTIMED, False), verdict.message
    wrong = judged(KERNEL.replace("int i =", "flaot i ="))
    assert wrong.status is Status.COMPILE_ERROR
    assert "kernel.cu(3): error" in wrong.message


def test_without_nvcc_nobody_is_blamed(judged, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    with pytest.raises(InfraError, match="needs the backend cuda: no CUDA compiler found") as caught:
        judged(RELU)
    assert caught.value.fix == "apt-get install nvidia-cuda-toolkit"


@needs_nvcc
def test_a_claim_is_not_confirmed_by_what_was_not_checked(judged, relu_task):
    verdict = judged(RELU)
    claim = certificate.read(certificate.issue(relu_task, RELU, verdict, ("eager",)))
    review = certificate.review(claim, verdict)
    assert not review.holds
    assert "FAILS: nothing could be checked here" in review.lines
