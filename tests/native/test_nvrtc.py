"""Kernels compiled by NVRTC and launched by the driver. The driver here is a stand-in; what needs NVRTC says so."""

import ctypes
import shutil

import pytest
import torch

from kernelwright import native
from kernelwright.native import _cubin, _cuda, _nvcc, _nvrtc
from kernelwright.native._cubin import Cubin, is_cubin
from tests.native.test_cuda import OnDevice, gpus  # noqa: F401
from tests.native.test_cuda_text import KERNEL, LAUNCHER
from tests.native.test_toolchain import program

needs_nvrtc = pytest.mark.skipif(native.nvrtc() is None, reason="NVRTC is not installed (nvidia-cuda-nvrtc)")
needs_both = pytest.mark.skipif(
    native.nvrtc() is None or shutil.which("nvcc") is None, reason="NVRTC or nvcc is not installed"
)
CODE = b"\x7fELF" + bytes(14) + (190).to_bytes(2, "little") + b"\0.text.relu\0.text.other\0.nv.info\0"


@pytest.fixture(autouse=True)
def _no_choices(monkeypatch):
    monkeypatch.delenv("KERNELWRIGHT_NVCC", raising=False)
    monkeypatch.delenv("KERNELWRIGHT_CUDA_ARCH", raising=False)


# The driver, as far as a launch looks at it


class Driver:
    """Says yes to everything, unless told which call fails with what; remembers what was asked."""

    def __init__(self, **codes: int) -> None:
        self.codes, self.asked = codes, []

    def __getattr__(self, name: str):
        def call(*values):
            self.asked.append((name, values))
            return self.codes.pop(name, 0)

        return call

    def cuGetErrorString(self, code, place):
        place._obj.value = b"a reason"

    def values(self, name: str) -> tuple:
        return next(values for asked, values in self.asked if asked == name)

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]


@pytest.fixture
def driver(monkeypatch):
    stand_in = Driver()
    monkeypatch.setattr(_cubin, "_driver", lambda: stand_in)
    return stand_in


@pytest.fixture
def lib(tmp_path):
    path = tmp_path / "kernel.so"
    path.write_bytes(CODE)
    functions = native.CudaLibrary._read('extern "C" ' + KERNEL)
    return native.CudaLibrary(native.Source("cuda", KERNEL), path, functions)


def test_device_code_is_told_from_a_library_of_the_host(tmp_path):
    (tmp_path / "code").write_bytes(CODE)
    (tmp_path / "library").write_bytes(b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little"))
    assert is_cubin(tmp_path / "code")
    assert not is_cubin(tmp_path / "library")


def test_a_kernel_is_launched_by_the_driver_on_the_callers_stream(lib, driver, gpus):  # noqa: F811
    lib.relu[(4, 2), 256, 1024](OnDevice(), OnDevice(), 7)
    lib.relu[1, 32](OnDevice(), OnDevice(), 7)
    assert driver.names() == ["cuLibraryLoadData", "cuLibraryGetKernel", "cuLaunchKernel", "cuLaunchKernel"]
    assert driver.values("cuLibraryLoadData")[1] == CODE
    assert driver.values("cuLibraryGetKernel")[2] == b"relu"
    _, *shape, stream, arguments, _ = driver.values("cuLaunchKernel")
    assert (shape, stream.value) == ([4, 2, 1, 256, 1, 1, 1024], 70)
    assert ctypes.cast(arguments[2], ctypes.POINTER(ctypes.c_int)).contents.value == 7


def test_much_shared_memory_is_asked_for_first(lib, driver, gpus):  # noqa: F811
    lib.relu[1, 32, 100_000](OnDevice(), OnDevice(), 7)
    assert driver.names()[-3:] == ["cuKernelGetFunction", "cuFuncSetAttribute", "cuLaunchKernel"]
    assert driver.values("cuFuncSetAttribute")[1:] == (8, 100_000)


@pytest.mark.parametrize("call", ["cuLibraryLoadData", "cuLibraryGetKernel", "cuLaunchKernel"])
def test_whatever_fails_is_raised_at_once(lib, driver, gpus, call):  # noqa: F811
    driver.codes[call] = 9
    with pytest.raises(native.CudaError, match=r"launching relu failed: a reason \(CUDA error 9\)"):
        lib.relu[1, 32](OnDevice(), OnDevice(), 7)


def test_a_thread_that_is_new_to_the_device_gets_torchs_context(lib, driver, gpus, monkeypatch):  # noqa: F811
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    driver.codes["cuLibraryLoadData"] = 201
    lib.relu[1, 32](OnDevice(), OnDevice(), 7)
    assert driver.values("cuDeviceGet")[1] == 1
    assert driver.names()[-4:] == ["cuCtxSetCurrent", "cuLibraryLoadData", "cuLibraryGetKernel", "cuLaunchKernel"]


def test_a_muted_kernel_checks_its_arguments_and_does_nothing(lib, driver, monkeypatch):
    monkeypatch.setattr("kernelwright.native._mute._muted", True)
    lib.relu[1, 32](OnDevice(), OnDevice(), 7)
    with pytest.raises(native.NativeCallError, match=r"call \.cuda\(\) first"):
        lib.relu[1, 32](torch.ones(1), OnDevice(), 7)
    assert driver.asked == []


def test_what_is_not_in_the_code_does_not_seem_to_be(tmp_path):
    (tmp_path / "code").write_bytes(CODE)
    with pytest.raises(AttributeError):
        Cubin(tmp_path / "code")["missing"]


def test_without_a_driver_the_first_launch_says_so(lib, monkeypatch):
    monkeypatch.setattr(_cubin, "_driver", lambda: None)
    with pytest.raises(native.CudaError, match="launching relu failed: there is no CUDA driver of release 12 or later"):
        lib.relu[1, 32](None, None, 7)


# Finding it


def test_a_library_that_does_not_open_is_passed_over(tmp_path):
    folder = tmp_path / "nvidia" / "cu99" / "lib"
    folder.mkdir(parents=True)
    (folder / "libnvrtc.so.99").write_text("no library")
    assert _nvrtc._in_packages((str(tmp_path),)) is None


def test_flags_that_mean_something_else_to_nvrtc_are_left_to_nvcc(tmp_path):
    found = _nvrtc.Nvrtc(tmp_path)
    assert found.takes(["-O3", "-DN=4", "-std=c++20", "--use_fast_math", "-use_fast_math", "-maxrregcount=32"])
    for flag in ("-O1", "--extended-lambda", "--expt-relaxed-constexpr"):
        assert not found.takes([flag])


def test_with_neither_compiler_the_error_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_nvcc, "USUAL_FOLDER", tmp_path / "nowhere")
    monkeypatch.setattr(_cuda, "nvrtc", lambda: None)
    with pytest.raises(native.ToolchainError, match="no CUDA compiler found; run `apt-get install"):
        native.cuda(KERNEL)


# Architectures


@pytest.mark.parametrize("architecture", ["sm_90", "sm_90a", "sm_80"])
def test_code_of_this_gpu_and_of_older_ones_runs(architecture):
    assert native.Gpu("a Hopper", (9, 0)).runs(architecture)


@pytest.mark.parametrize("architecture", ["sm_100", "sm_80a", "sm_121"])
def test_code_for_another_gpu_is_refused_before_it_is_compiled(architecture, monkeypatch):
    here = native.Gpu("a Hopper", (9, 0))
    assert not here.runs(architecture)
    monkeypatch.setattr(_cuda, "gpu", lambda: here)
    monkeypatch.setattr(_cuda, "has_nvcc", lambda: True)
    monkeypatch.setattr(_cuda, "known_architectures", lambda: ("sm_80", "sm_90", "sm_100", "sm_121"))
    words = f"code for {architecture} does not run on the a Hopper in this machine, which is sm_90; leave -arch out"
    with pytest.raises(native.CompileError, match=words):
        native.cuda(KERNEL + LAUNCHER, f"-arch={architecture}")


# For real


@needs_nvrtc
def test_kernels_alone_need_no_nvcc_and_no_host_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    lib = native.cuda("#include <cstdint>\n#include <math.h>\n// alone\n" + KERNEL)
    assert is_cubin(lib.path)


@needs_nvrtc
def test_without_nvcc_the_words_of_nvrtc_come_back_with_the_authors_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(native.CompileError) as caught:
        native.cuda(KERNEL.replace("y[0]", "why[0]"))
    assert "kernel.cu(2): error" in caught.value.headline
    assert "why" in caught.value.log


@needs_nvrtc
def test_without_nvcc_a_launcher_is_nobodys_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_NVCC", str(program(tmp_path / "nvcc", "exit 3")))
    with pytest.raises(native.ToolchainError, match="does not answer --version"):
        native.cuda(KERNEL + LAUNCHER)


@needs_both
@pytest.mark.parametrize("text", ["#include <vector>\n" + KERNEL, KERNEL + "int unused() { return 1; }"])
def test_what_nvrtc_cannot_do_nvcc_does(text):
    assert not is_cubin(native.cuda(text.replace("__global__", 'extern "C" __global__')).path)


@needs_both
def test_launchers_and_kernels_are_compiled_apart_and_work_as_one_library():
    text = '#include <vector>\nextern "C" ' + KERNEL.replace(
        "__global__ void", "__global__ void __launch_bounds__(256)"
    )
    lib = native.cuda(text + LAUNCHER)
    assert b"kernelwright_register" in lib.path.read_bytes()
    assert repr(lib) == "<cuda library: relu, launch>"
    if native.gpu() is None:
        for launch in (lib.launch, lib.relu[1, 32]):
            with pytest.raises(native.CudaError, match=r"launching \w+ failed: .*(driver|device)"):
                launch(None, None, 1)


@needs_both
def test_an_error_in_either_part_is_told_in_nvccs_words():
    for wrong in (KERNEL.replace("y[0]", "why[0]") + LAUNCHER, KERNEL + LAUNCHER.replace("n + 255", "m + 255")):
        with pytest.raises(native.CompileError, match=r"kernel\.cu\(\d\): error: identifier"):
            native.cuda(wrong)
