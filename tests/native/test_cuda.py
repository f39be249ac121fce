"""What a candidate holds after `native.cuda`. Nothing here needs a GPU; what needs nvcc says so."""

import contextlib
import shutil
from types import SimpleNamespace

import pytest
import torch

from kernelwright import native
from kernelwright.native import _cuda_library, _nvcc
from kernelwright.native._cuda_library import Kernel
from kernelwright.native._signatures import signatures
from tests.native.test_toolchain import program

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")

TEXT = r"""
__device__ float positive(float value) { return value > 0 ? value : 0; }

extern "C" __global__ void __launch_bounds__(256) relu_kernel(const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = positive(x[i]);
}

extern "C" void relu(const float* x, float* y, int n, cudaStream_t stream) {
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

extern "C" cudaError_t synchronise() { return cudaDeviceSynchronize(); }
"""


@pytest.fixture(autouse=True)
def _no_choices(monkeypatch):
    monkeypatch.delenv("KERNELWRIGHT_NVCC", raising=False)
    monkeypatch.delenv("KERNELWRIGHT_CUDA_ARCH", raising=False)


# Reading the text


def test_kernels_and_launchers_are_told_apart_and_device_functions_left_out():
    found = signatures(TEXT + 'extern "C" __device__ int inner() { return 1; }')
    assert {name: signature.kernel for name, signature in found.items()} == {
        "relu_kernel": True,
        "relu": False,
        "synchronise": False,
    }
    assert [parameter.type.kind for parameter in found["relu"].parameters][-1] == "stream"
    assert found["relu_kernel"].returns.kind == "void"


@pytest.mark.parametrize(("spelling", "scalar"), [("const __half*", "float16"), ("__nv_bfloat16*", "bfloat16")])
def test_half_precision_pointers_are_known(spelling, scalar):
    found = signatures(f'extern "C" void f({spelling} x) {{}}')
    assert found["f"].parameters[0].type.scalar == scalar


# Calling, with a device that is not there


class OnDevice:
    """As much of a CUDA tensor as a call looks at."""

    is_cuda = True
    dtype = torch.float32

    def __init__(self, device: str = "cuda:0") -> None:
        self.device = torch.device(device)

    def is_contiguous(self) -> bool:
        return True

    def data_ptr(self) -> int:
        return 4096


class Spy:
    """Stands in for a C function and a runtime: what reached them."""

    def __init__(self, code: int = 0) -> None:
        self.calls: list[tuple] = []
        self.code = code

    def __call__(self, *values):
        self.calls.append(values)

    def launch(self, kernel, grid, block, cells, shared_bytes, stream):
        self.calls.append((tuple(grid), tuple(block), [cell.value for cell in cells], shared_bytes, stream))
        return self.code

    check = _cuda_library.Runtime.check

    def _last_error(self) -> int:
        return self.code

    def _text(self, code: int) -> bytes:
        return b"invalid configuration argument"


@pytest.fixture
def gpus(monkeypatch):
    """Two GPUs, the caller's stream on the second numbered 71; gives the devices that were made current."""
    current = []

    @contextlib.contextmanager
    def device(which):
        current.append(str(which))
        yield

    monkeypatch.setattr(torch.cuda, "device", device)
    stream = {"cuda:0": 70, "cuda:1": 71}
    monkeypatch.setattr(torch.cuda, "current_stream", lambda on: SimpleNamespace(cuda_stream=stream[str(on)]))
    return current


def bound(name: str, foreign, runtime):
    library = object.__new__(native.CudaLibrary)
    library._runtime = runtime
    return library._bind(signatures(TEXT)[name], foreign)


def test_a_launcher_gets_the_callers_stream_on_the_tensors_device(gpus):
    spy = Spy()
    bound("relu", spy, spy)(OnDevice("cuda:1"), OnDevice("cuda:1"), 5)
    assert spy.calls == [(4096, 4096, 5, 71)]
    assert gpus == ["cuda:1"]


def test_the_stream_is_not_the_callers_to_pass(gpus):
    with pytest.raises(native.NativeCallError, match="takes 3 arguments, 4 given"):
        bound("relu", Spy(), Spy())(OnDevice(), OnDevice(), 5, 0)


def test_tensors_on_two_devices_are_refused(gpus):
    with pytest.raises(native.NativeCallError, match=r"relu: got tensors on cuda:0 and cuda:1.*move them to one"):
        bound("relu", Spy(), Spy())(OnDevice("cuda:0"), OnDevice("cuda:1"), 5)


def test_a_tensor_in_main_memory_is_refused():
    with pytest.raises(native.NativeCallError, match=r"'x' .* got a tensor on cpu; .* call \.cuda\(\) first"):
        bound("relu", Spy(), Spy())(torch.ones(3), OnDevice(), 3)


def test_a_tensor_of_another_type_is_refused():
    half = OnDevice()
    half.dtype = torch.float16
    with pytest.raises(native.NativeCallError, match="'y'"):
        bound("relu", Spy(), Spy())(OnDevice(), half, 3)


def test_an_error_of_the_launch_is_raised_at_once(gpus):
    spy = Spy(code=9)
    with pytest.raises(native.CudaError, match=r"launching relu failed: invalid configuration argument .*9"):
        bound("relu", spy, spy)(OnDevice(), OnDevice(), 5)


def test_a_kernel_is_launched_with_its_shape(gpus):
    spy = Spy()
    bound("relu_kernel", spy, spy)[(4, 2), 256, 1024](OnDevice(), None, 7)
    assert spy.calls == [((4, 2, 1), (256, 1, 1), [4096, None, 7], 1024, 70)]


def test_a_failed_launch_of_a_kernel_is_raised(gpus):
    spy = Spy(code=9)
    words = r"launching relu_kernel failed: .*: grid \(1, 1, 1\), block \(256, 1, 1\), 999999 bytes of shared memory"
    with pytest.raises(native.CudaError, match=words):
        bound("relu_kernel", spy, spy)[1, 256, 999999](OnDevice(), OnDevice(), 7)


def test_a_block_larger_than_any_gpu_has_is_refused():
    with pytest.raises(native.NativeCallError, match=r"relu_kernel: block \(64, 32\) has 2048 threads, more than 1024"):
        bound("relu_kernel", Spy(), Spy())[1, (64, 32)]


@pytest.mark.parametrize("shape", [4, (4,), (4, 0), (4, 2.5), ((1, 1, 1, 1), 4), (4, 4, -1), (4, 4, 4, 4)])
def test_a_shape_that_is_none_is_refused(shape):
    kernel = bound("relu_kernel", Spy(), Spy())
    assert isinstance(kernel, Kernel)
    with pytest.raises(native.NativeCallError, match="relu_kernel"):
        kernel[shape]


def test_a_kernel_called_like_a_function_says_how_to_launch_it():
    with pytest.raises(native.NativeCallError, match=r"lib\.relu_kernel\[grid, block\]"):
        bound("relu_kernel", Spy(), Spy())(None, None, 1)


# Compiling


@needs_nvcc
def test_a_library_compiles_and_loads_without_a_gpu_and_says_so_when_called():
    lib = native.cuda(TEXT)
    assert repr(lib) == "<cuda library: relu_kernel, relu, synchronise>"
    if native.gpu() is None:
        for launch in (lib.relu, lib.relu_kernel[1, 32]):
            with pytest.raises(native.CudaError, match=r"launching relu\w* failed: .*(driver|device)"):
                launch(None, None, 1)
        with pytest.raises(native.CudaError, match="launching synchronise failed"):
            lib.synchronise()


@needs_nvcc
def test_the_compilers_words_come_back_whole_with_the_authors_lines():
    with pytest.raises(native.CompileError) as caught:
        native.cuda('\nextern "C" __global__ void f(float* x) {\n    x[0] = nothing;\n    x[1] = naught;\n}')
    assert "kernel.cu(3): error" in caught.value.headline
    assert "nothing" in caught.value.headline
    assert "naught" in caught.value.log


@needs_nvcc
@pytest.mark.parametrize("flag", ["-arch=sm_20", "-arch=sm_90z", "-arch=hopper", "-arch=native"])
def test_an_architecture_that_nvcc_does_not_know_is_named_with_those_it_knows(flag):
    with pytest.raises(native.CompileError, match=rf"cannot compile for '{flag[6:]}'; it knows sm_.*sm_90"):
        native.cuda(TEXT, flag)


@needs_nvcc
def test_a_wrong_variable_for_the_architecture_is_named(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CUDA_ARCH", "sm_1")
    with pytest.raises(native.ToolchainError, match="KERNELWRIGHT_CUDA_ARCH is 'sm_1': nvcc cannot compile"):
        native.cuda(TEXT)


@needs_nvcc
@pytest.mark.parametrize(
    "flag", ["-Xcompiler=-fplugin=a.so", "-ccbin=/tmp/cc", "-I/etc", "--run", "-DX=$(id)", "-lcublas"]
)
def test_flags_that_name_files_or_programs_are_refused(flag):
    with pytest.raises(native.CompileError, match="is not allowed; use -arch=sm_NN"):
        native.cuda(TEXT, [flag])


def test_code_is_for_the_gpu_that_is_there(monkeypatch):
    monkeypatch.setattr(_nvcc, "gpu", lambda: native.Gpu("a Blackwell", (10, 0)))
    assert native.chosen_architecture() == "sm_100"
    monkeypatch.setattr(_nvcc, "gpu", lambda: None)
    assert native.chosen_architecture() == "sm_90"
    monkeypatch.setenv("KERNELWRIGHT_CUDA_ARCH", "sm_80")
    assert native.chosen_architecture() == "sm_80"
    assert native.nvcc_settings() == {"KERNELWRIGHT_CUDA_ARCH": "sm_80"}


# Finding nvcc


def test_without_nvcc_the_error_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    with pytest.raises(
        native.ToolchainError, match="no CUDA compiler found; run `apt-get install nvidia-cuda-toolkit`"
    ):
        native.cuda(TEXT)


def test_an_nvcc_outside_the_path_is_pointed_at(tmp_path, monkeypatch):
    (tmp_path / "cuda").mkdir()
    program(tmp_path / "cuda" / "nvcc", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "cuda")
    with pytest.raises(native.ToolchainError, match=rf"export PATH={tmp_path}/cuda:\$PATH"):
        native.nvcc()


def test_a_wrong_choice_of_nvcc_is_named(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_NVCC", "no-such-nvcc")
    with pytest.raises(native.ToolchainError, match="KERNELWRIGHT_NVCC is 'no-such-nvcc'"):
        native.nvcc()


@pytest.mark.parametrize("body", ["exit 3", "echo something else"])
def test_a_program_that_is_no_nvcc_is_refused(tmp_path, monkeypatch, body):
    monkeypatch.setenv("KERNELWRIGHT_NVCC", str(program(tmp_path / "broken", body)))
    with pytest.raises(native.ToolchainError, match="does not answer --version"):
        native.nvcc()


def test_a_toolkit_is_shown_to_the_compilers_cage_and_any_other_folder_is_not(tmp_path, monkeypatch):
    for folder in ("toolkit/bin", "toolkit/nvvm", "home/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for place in ("toolkit", "home"):
        program(tmp_path / place / "bin" / "nvcc", "echo Cuda compilation tools, release 99.0, V99.0")
    monkeypatch.setenv("KERNELWRIGHT_NVCC", str(tmp_path / "toolkit/bin/nvcc"))
    assert native.toolkit_folder() == tmp_path / "toolkit"
    monkeypatch.setenv("KERNELWRIGHT_NVCC", str(tmp_path / "home/bin/nvcc"))
    assert native.toolkit_folder() is None
