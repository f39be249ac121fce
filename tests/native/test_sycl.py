"""SYCL text becomes kernels that run on tensors."""

import faulthandler
import pickle
import re
import signal
import threading
from pathlib import Path

import pytest
import torch

from kernelwright import native
from kernelwright.native import _mute, _sycl_packages
from tests.sycl import needs_sycl

HEAD = """#include <sycl/sycl.hpp>
namespace syclexp = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;
"""
MARK = 'extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<{}>))\n'
KERNELS = (
    HEAD
    + MARK.format(1)
    + """void scale(const float* x, float* y, long n, float by, int unused) {
    long i = get_nd_item<1>().get_global_id(0);
    if (i < n) y[i] = by * x[i];
}
"""
    + MARK.format(2)
    + """void place(int* out) {
    auto item = get_nd_item<2>();
    out[item.get_global_id(0) * item.get_global_range(1) + item.get_global_id(1)] =
        100 * item.get_group(0) + 10 * item.get_group(1) + item.get_local_id(1);
}
"""
)


@pytest.fixture(scope="module")
def lib(shared_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(shared_cache))
        return native.sycl(KERNELS)


@needs_sycl
def test_a_kernel_computes_on_tensors_and_has_ended_when_the_call_returns(lib):
    x = torch.randn(100_001)
    y = torch.empty_like(x)
    lib.scale[100_032, 64](x, y, x.numel(), 3.0, 7)
    assert torch.equal(y, 3.0 * x)


@needs_sycl
def test_dimensions_are_those_of_sycl(lib):
    out = torch.zeros(4, 6, dtype=torch.int32)
    lib.place[(4, 6), (2, 3)](out)
    expected = [[100 * (i // 2) + 10 * (j // 3) + j % 3 for j in range(6)] for i in range(4)]
    assert out.tolist() == expected


@needs_sycl
def test_threads_may_launch_the_same_kernel_with_arguments_of_their_own(lib):
    results = [torch.zeros(4096) for _ in range(4)]

    def fill(index):
        for _ in range(50):
            lib.scale[4096, 64](torch.ones(4096), results[index], 4096, float(index), 0)

    threads = [threading.Thread(target=fill, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [float(result.mean()) for result in results] == [0.0, 1.0, 2.0, 3.0]


@needs_sycl
def test_the_library_shows_its_kernels_and_survives_pickling(lib):
    assert {"scale", "place"} <= set(dir(lib))
    assert "sycl library: scale, place" in repr(lib)
    with pytest.raises(AttributeError, match="did you mean scale"):
        _ = lib.scales
    assert pickle.loads(pickle.dumps(lib)).__kernelwright_source__ == lib.__kernelwright_source__


@needs_sycl
def test_more_work_items_in_a_group_than_the_device_has_are_refused_by_it(lib):
    with pytest.raises(native.SyclError, match=r"scale over \(65536,\) in groups of \(65536,\): .*OpenCL error -54"):
        lib.scale[65536, 65536](torch.ones(1), torch.ones(1), 1, 1.0, 0)


@needs_sycl
def test_a_muted_kernel_checks_its_arguments_and_does_nothing(lib, monkeypatch):
    monkeypatch.setattr(_mute, "_muted", True)
    muted = native.SyclLibrary(lib.__kernelwright_source__, lib.path, lib._functions)
    y = torch.zeros(64)
    muted.scale[64, 64](torch.ones(64), y, 64, 3.0, 7)
    assert not y.any()
    with pytest.raises(native.NativeCallError, match="pass a float"):
        muted.scale[64, 64](torch.ones(64), y, 64, "3", 7)


@needs_sycl
def test_opening_a_library_leaves_signals_to_whom_they_belong(lib):
    caught = int(re.search(r"SigCgt:\s*(\w+)", Path("/proc/self/status").read_text())[1], 16)
    assert not caught & 1 << signal.SIGSEGV - 1 or faulthandler.is_enabled()


@needs_sycl
def test_what_the_compiler_says_comes_back_whole():
    text = HEAD + MARK.format(1) + "void f(float* x) {\n    x[0] = nonsense;\n    x[1] = rubbish;\n}\n"
    with pytest.raises(native.CompileError) as caught:
        native.sycl(text)
    assert "nonsense" in caught.value.headline
    assert "nonsense" in caught.value.log
    assert "rubbish" in caught.value.log


@needs_sycl
def test_a_flag_shapes_the_code_and_one_that_names_a_file_is_refused():
    text = HEAD + MARK.format(1) + "void f(int* x) { x[0] = CHOSEN; }\n"
    out = torch.zeros(1, dtype=torch.int32)
    native.sycl(text, "-DCHOSEN=41").f[1, 1](out)
    assert out.item() == 41
    with pytest.raises(native.CompileError, match="not allowed"):
        native.sycl(text, "-include /etc/passwd")


def test_text_without_a_kernel_is_refused_before_anything_is_compiled():
    with pytest.raises(native.CompileError, match=r"defines no kernel; write `extern \"C\" SYCL_EXT"):
        native.sycl('extern "C" void f(float* x) {}')


def test_without_the_packages_the_command_that_installs_them_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(native.ToolchainError, match=r"pip install 'kernelwright\[sycl\]'"):
        native.sycl(KERNELS)


def test_host_programs_that_do_not_compile_are_reported_with_the_log(monkeypatch, tmp_path):
    for name in _sycl_packages.NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#error broken headers\n")
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(native.CompileError, match="broken headers"):
        native.sycl(KERNELS)
