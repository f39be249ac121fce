"""The languages of GPUs: which candidates use them, and what this machine can do with them."""

import importlib.util
import shutil

import pytest

from kernelwright import backends, native
from kernelwright.backends import Scope, _device
from kernelwright.native import _cuda, _nvcc

needs_nvrtc = pytest.mark.skipif(native.nvrtc() is None, reason="NVRTC is not installed (nvidia-cuda-nvrtc)")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")

TRITON = """
import triton
import triton.language as tl

@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""
CUDA = "from kernelwright import native\nlib = native.cuda('extern \"C\" void f() {}')\n"
CPP = "from kernelwright import native\nhost = native.cpp('')\n"
INLINE = "from torch.utils.cpp_extension import load_inline\n"


@pytest.mark.parametrize(
    "text",
    [
        TRITON,
        TRITON.replace("@triton.jit", "@triton.jit(do_not_specialize=['n'])"),
        TRITON.replace("@triton.jit", "@triton.autotune(configs=[], key=['n'])\n@triton.jit"),
        TRITON.replace("import triton\n", "from triton import jit as kernel\n").replace("triton.jit", "kernel"),
        "import triton\ndef f(): pass\ng = triton.jit(f)",
    ],
)
def test_a_candidate_with_a_jit_kernel_is_triton(text):
    assert backends.detect(text) == "triton"


@pytest.mark.parametrize("text", ["import triton\nprint(triton.cdiv(3, 2))", "# @triton.jit", "x = '@triton.jit'"])
def test_mentioning_triton_is_not_using_it(text):
    assert backends.detect(text) == "python"


@pytest.mark.parametrize(
    "text",
    [
        CUDA,
        INLINE + "load_inline('m', '', 'k')",
        INLINE + "load_inline(name='m', cpp_sources='', cuda_sources='')",
        "import torch\ntorch.utils.cpp_extension.load('m', ['k.cpp', 'k.cu'])",
    ],
)
def test_a_candidate_that_compiles_cuda_is_cuda(text):
    assert backends.detect(text) == "cuda"


@pytest.mark.parametrize(
    "text",
    [
        INLINE + "load_inline('m', 'k')",
        INLINE + "load_inline('m', 'k', cuda_sources=None)",
        "from torch.utils import cpp_extension\ncpp_extension.load(name='m', sources=['k.cpp'])",
    ],
)
def test_an_extension_without_cuda_is_cpp(text):
    assert backends.detect(text) == "cpp"


def test_of_several_languages_the_one_that_goes_least_far_decides():
    assert backends.detect(CPP + TRITON) == "triton"
    assert backends.detect(CPP + CUDA) == "cuda"
    assert backends.detect(TRITON + CUDA) == "cuda"


def test_scopes_are_what_the_judge_can_do():
    assert {name: backends.get(name).scope() for name in backends.names()} == {
        "cpp": Scope.TIMED,
        "cuda": Scope.COMPILED,
        "python": Scope.TIMED,
        "sycl": Scope.TIMED,
        "triton": Scope.CHECKED,
    }


def test_torch_in_a_kernel_is_pointed_out():
    text = "import torch\n" + TRITON + "    torch.relu(x)\n"
    assert "python-in-kernel:10" in backends.get("triton").screen(text)
    assert not [flag for flag in backends.get("triton").screen(TRITON) if "kernel" in flag]


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("cuda-l2", "cudaAccessPolicyWindow window;"),
        ("cuda-library", "cublasSgemm(handle);"),
        ("cuda-memory", "cudaMalloc(&p, 4);"),
        ("cuda-streams", "cudaStreamCreate(&s);"),
        ("native-static", "static float* kept;"),
    ],
)
def test_cuda_text_is_looked_at(family, code):
    text = f"from kernelwright import native\nlib = native.cuda(r'''\n{code}\nextern \"C\" void f() {{}}\n''')\n"
    assert f"{family}:3" in backends.get("cuda").screen(text)


# What works here


def test_without_triton_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = backends.get("triton").available()
    assert (found.ok, found.detail) == (False, "triton is not installed")
    assert found.fix == "pip install 'kernelwright[triton]'"


def test_with_triton_and_no_gpu_it_says_what_is_done_and_what_more_would_take(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(native, "gpu", lambda: None)
    found = backends.get("triton").available()
    assert found.ok
    assert "checked in its interpreter, not timed: this machine has no GPU" in found.detail
    assert "NVIDIA GPU" in found.more


def test_a_gpu_that_is_there_is_never_called_missing(monkeypatch):
    monkeypatch.setattr(native, "gpu", lambda: native.Gpu("H200", (9, 0)))
    monkeypatch.setattr(_device, "torch_has_cuda", lambda: False)
    assert _device.without_device() == "the torch installed here is built without CUDA and cannot use the H200"
    assert (_device.usable_gpu(), _device.more()) == (None, "install a torch built for CUDA")
    monkeypatch.setattr(_device, "torch_has_cuda", lambda: True)
    assert _device.usable_gpu() == native.Gpu("H200", (9, 0))
    assert _device.more() == ""


def test_without_nvcc_cuda_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    monkeypatch.setattr(_cuda, "nvrtc", lambda: None)
    found = backends.get("cuda").available()
    assert (found.ok, found.fix) == (False, "apt-get install nvidia-cuda-toolkit")


@needs_nvrtc
def test_with_nvrtc_alone_cuda_says_which_half_of_it_there_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    found = backends.get("cuda").available()
    assert found.ok, found
    assert "for kernels without launchers alone: no nvcc found" in found.detail
    assert found.fix == "apt-get install nvidia-cuda-toolkit"


@needs_nvcc
def test_with_nvcc_and_no_gpu_cuda_compiles_and_says_that_this_is_all(monkeypatch):
    monkeypatch.setattr(native, "gpu", lambda: None)
    found = backends.get("cuda").available()
    assert found.ok, found
    assert "compiled for sm_90, not run and not checked: this machine has no GPU" in found.detail
    assert "NVIDIA GPU" in found.more


@needs_nvcc
def test_a_wrong_architecture_is_to_be_unset(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CUDA_ARCH", "sm_1")
    found = backends.get("cuda").available()
    assert (found.ok, found.fix) == (False, "unset KERNELWRIGHT_CUDA_ARCH")
