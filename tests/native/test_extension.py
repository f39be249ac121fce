"""Torch extensions: what is compiled for one, with which flags, against which headers. Little here compiles."""

import ctypes
import json
import re
import shutil
import sys
import types
from pathlib import Path

import pytest
import torch

from kernelwright import native
from kernelwright.native import _extension, _extension_module, _mute
from kernelwright.native import _extension_flags as flags
from kernelwright.native import _extension_headers as headers
from kernelwright.native import _torch_verbs as verbs

INCLUDE = Path(torch.__file__).parent / "include"
RELU = "torch::Tensor relu(torch::Tensor x) { return torch::empty_like(x); }"


class Asked(Exception):
    """Raised in place of building."""


@pytest.fixture
def asked():
    """What the builder is asked for by a call."""

    def builder(source):
        raise Asked(source)

    def of(call, *arguments, **named):
        with pytest.raises(Asked) as caught:
            call(*arguments, **named)
        return native.Extension.read(caught.value.args[0])

    native.set_builder(builder)
    yield of
    native.set_builder(None)


def plans(extension):
    source = extension.source()
    return list(native.language_of(source).plans(source))


# *** the verbs ***


def test_the_files_are_those_torch_writes(asked):
    extension = asked(verbs.load_inline, "m", ["int one;", "int two;"], functions=["relu"])
    assert extension.name == "m"
    assert not extension.cuda
    assert extension.files == {
        "main.cpp": "#include <torch/extension.h>\nint one;\nint two;\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
        'm.def("relu", torch::wrap_pybind_function(relu), "relu");\n}'
    }


def test_functions_may_be_one_name_or_carry_their_documentation(asked):
    one = asked(verbs.load_inline, "m", "", functions="relu", with_pytorch_error_handling=False)
    assert 'm.def("relu", relu, "relu");' in one.files["main.cpp"]
    documented = asked(verbs.load_inline, "m", "", functions={"relu": "clips"})
    assert ', "clips");' in documented.files["main.cpp"]
    with pytest.raises(ValueError, match="list or dict"):
        verbs.load_inline("m", "", functions=7)


def test_cuda_goes_into_a_file_of_its_own(asked):
    extension = asked(verbs.load_inline, "m", "", cuda_sources="__global__ void k() {}", extra_cuda_cflags=["-O3"])
    assert extension.cuda
    assert extension.files["cuda.cu"].splitlines()[:3] == [
        "#include <torch/types.h>",
        "#include <cuda.h>",
        "#include <cuda_runtime.h>",
    ]
    assert extension.cuda_cflags == ("-O3",)


def test_no_header_is_implied_where_none_is_wanted(asked):
    extension = asked(verbs.load_inline, "m", "int one;", "int two;", no_implicit_headers=True)
    assert extension.files == {"main.cpp": "int one;", "cuda.cu": "int two;"}


def test_files_are_read_with_the_headers_they_include(asked, tmp_path):
    (tmp_path / "k.cpp").write_text('#include "k.h"\n#include <vector>\n')
    (tmp_path / "k.h").write_text('#include "deep.h"\n')
    (tmp_path / "more").mkdir()
    (tmp_path / "more/deep.h").write_text("int deep;\n")
    extension = asked(verbs.load, "m", [str(tmp_path / "k.cpp")], extra_include_paths=[str(tmp_path / "more")])
    assert sorted(extension.files) == ["deep.h", "k.cpp", "k.h"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: verbs.load_inline("m", "", sycl_sources="x"), "write it with native.sycl"),
        (lambda: verbs.load("m", "k.cpp", is_standalone=True), "standalone program cannot be judged"),
        (lambda: verbs.load("m", "nowhere.cpp"), "cannot be read"),
        (lambda: verbs.load_inline("two words", ""), "name that Python and C\\+\\+ allow"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call, sentence):
    with pytest.raises(native.CompileError, match=sentence):
        call()


@pytest.fixture
def _torch_as_it_was(monkeypatch):
    monkeypatch.setitem(sys.modules, verbs.MODULE, types.ModuleType(verbs.MODULE))
    monkeypatch.setattr(torch.utils, "cpp_extension", None, raising=False)


@pytest.mark.usefixtures("_torch_as_it_was")
def test_every_way_of_importing_finds_these_functions():
    native.take_over_extensions()
    import torch.utils.cpp_extension
    from torch.utils.cpp_extension import load_inline

    assert load_inline is verbs.load_inline
    assert torch.utils.cpp_extension.load is verbs.load


# *** what is asked for is not believed ***


@pytest.mark.parametrize(
    "said",
    [
        "no json",
        "[]",
        json.dumps({"name": "m", "files": {"main.cpp": 7}, "cflags": [], "cuda_cflags": [], "ldflags": []}),
        json.dumps({"name": "m", "files": {"../m.cpp": ""}, "cflags": [], "cuda_cflags": [], "ldflags": []}),
        json.dumps({"name": "m", "files": {"/m.cpp": ""}, "cflags": [], "cuda_cflags": [], "ldflags": []}),
        json.dumps({"name": "m", "files": {"m.h": ""}, "cflags": [], "cuda_cflags": [], "ldflags": []}),
        json.dumps({"name": "-x", "files": {"m.cpp": ""}, "cflags": [], "cuda_cflags": [], "ldflags": []}),
    ],
)
def test_a_description_that_is_none_is_refused(said):
    with pytest.raises(native.CompileError):
        native.Extension.read(native.Source("cpp-extension", said))


# *** flags ***


def test_flags_of_published_solutions_pass():
    assert flags.host_flags(["-O3 -march=native", "", "-w", "-std=c++17"]) == [
        "-O3",
        "-march=native",
        "-w",
        "-std=c++17",
    ]
    assert flags.nvcc_flags(
        """-O3 --use_fast_math -gencode arch=compute_80,code=sm_80 -Xcompiler -O3,-fopenmp --ptxas-options=-v
        -U__CUDA_NO_HALF_OPERATORS__ --expt-extended-lambda -t 4""".splitlines()
    )[2:4] == ["-gencode=arch=compute_80,code=sm_80", "-Xcompiler=-O3,-fopenmp"]
    assert flags.link_flags(["", "-lcudart", "-lcublas", "-L/usr/local/cuda/lib64"]) == [
        "-lcublas",
        "-L/usr/local/cuda/lib64",
    ]


@pytest.mark.parametrize(
    ("check", "flag"),
    [
        (flags.host_flags, "-fplugin=x.so"),
        (flags.host_flags, "-B/tmp"),
        (flags.host_flags, "@file"),
        (flags.host_flags, "-wrapper sh"),
        (flags.host_flags, "-include /etc/passwd"),
        (flags.host_flags, "-Wl,-rpath,/tmp"),
        (flags.host_flags, "-I/home/somebody"),
        (flags.host_flags, "-I/usr/../home"),
        (flags.host_flags, "-specs=x"),
        (flags.host_flags, "-o x"),
        (flags.nvcc_flags, "--compiler-bindir /tmp"),
        (flags.nvcc_flags, "-ccbin=/tmp"),
        (flags.nvcc_flags, "-Xcompiler -fplugin=x.so"),
        (flags.nvcc_flags, "-Xcompiler=-wrapper,sh"),
        (flags.nvcc_flags, "-Xptxas --input=x"),
        (flags.nvcc_flags, "-Xlinker -rpath"),
        (flags.nvcc_flags, "--options-file x"),
        (flags.nvcc_flags, "-optf x"),
        (flags.nvcc_flags, "--run"),
        (flags.nvcc_flags, "-include x.h"),
        (flags.link_flags, "-lsecret"),
        (flags.link_flags, "-Wl,-rpath,/tmp"),
        (flags.link_flags, "-L/tmp"),
        (flags.link_flags, "-fuse-ld=/tmp/ld"),
        (flags.link_flags, "/tmp/x.o"),
    ],
)
def test_a_flag_that_names_a_file_or_program_is_refused_by_name(check, flag):
    with pytest.raises(native.CompileError, match="not allowed") as caught:
        check([flag])
    assert any(part in caught.value.headline for part in re.split("[ =,]", flag) if len(part) > 1)


def test_flags_reach_the_compiler_only_after_they_were_checked():
    with pytest.raises(native.CompileError, match=r"'-fplugin=x\.so' is not allowed"):
        plans(native.Extension("m", {"main.cpp": ""}, cflags=("-fplugin=x.so",)))


# *** headers ***


def test_stand_ins_come_first_and_the_true_headers_second():
    small, true = plans(native.Extension("m", {"main.cpp": RELU}))
    compiler, link = small.steps
    assert "-Ikernelwright-stand-ins" in compiler[0]
    assert link[0][-1] == "kernel.so"
    assert not [file for file in true.files if "stand-ins" in file]
    assert "-Ikernelwright-stand-ins" not in true.steps[0][0]


def test_stand_ins_hold_the_operators_that_a_text_calls():
    types = headers.stand_ins("torch::empty_like(x); at::matmul(a, b); torch::Tensor y;", INCLUDE)["torch/types.h"]
    assert "#include <ATen/ops/empty_like.h>" in types
    assert "#include <ATen/ops/matmul.h>" in types
    assert "ATen/ops/relu.h" not in types
    assert "kFloat32" in types
    opened = headers.stand_ins("using namespace at; relu(x);", INCLUDE)["torch/types.h"]
    assert "#include <ATen/ops/relu.h>" in opened


@pytest.mark.parametrize("text", ["torch::nn::Linear l(1, 1);", "TORCH_LIBRARY(m, l) {}", "torch::tensor({1})"])
def test_what_stand_ins_lack_is_compiled_against_the_true_headers_at_once(text):
    assert len(plans(native.Extension("m", {"main.cpp": text}))) == 1


@pytest.mark.parametrize(
    ("log", "may"),
    [
        ("main.cpp:3:9: error: 'Slice' is not a member of 'torch'", True),
        ('cuda.cu(8): error: namespace "torch" has no member "foo"', True),
        ("fatal error: no such file", True),
        ('cuda.cu(7): error: expected a ";"\n1 error detected in the compilation', False),
        ("main.cpp:7:3: error: expected ';' before 'y'", False),
        ("main.cpp:7:3: error: expected initializer before 'torch'", False),
        ("main.cpp:7:3: error: expected ';' before 'y'\nmain.cpp:9:1: error: 'y' was not declared", False),
        ("main.cpp:7:3: error: 'Foo' is not a member of 'at'\nmain.cpp:7:3: error: expected ';' before 'y'", True),
        ("cc1plus killed", True),
        ('cuda.cu(8): error: identifier "no_such_word_of_torch" is undefined', False),
        ("main.cpp:7:3: error: 'no_such_word_of_torch' was not declared in this scope", False),
        ('cuda.cu(8): error: identifier "TORCH_WARN_ONCE" is undefined', True),
    ],
)
def test_a_second_try_is_made_only_where_it_may_help(log, may):
    assert headers.may_lack(log, INCLUDE) is may


def test_only_files_with_bindings_read_python(asked):
    small = plans(asked(verbs.load_inline, "m", RELU, functions=["relu"]))[0]
    assert f"-D{headers.PYTHON}" in small.steps[0][0]
    assert f"-D{headers.PYTHON}" not in plans(native.Extension("m", {"main.cpp": RELU}))[0].steps[0][0]


# *** in a process ***


@pytest.fixture
def _muted():
    yield native.mute()
    _mute._muted = False


@pytest.mark.usefixtures("_muted")
def test_a_muted_module_has_the_same_names_and_does_nothing(monkeypatch):
    module = types.ModuleType("m")
    module.relu, module.version = (lambda x: x), 3
    monkeypatch.setattr(_extension_module, "_import", lambda name, path: module)
    muted = _extension_module.open_module(native.Extension("m", {"main.cpp": ""}), Path("m.so"))
    assert (muted.relu(1), muted.version) == (None, 3)


@pytest.mark.skipif(torch.version.cuda is not None, reason="torch is built for CUDA")
def test_where_torch_has_no_cuda_an_extension_with_cuda_is_compiled_and_not_opened():
    module = _extension_module.open_module(native.Extension("m", {"cuda.cu": ""}, cuda=True), Path("nowhere.so"))
    with pytest.raises(RuntimeError, match="relu is for a GPU"):
        module.relu(1)


def test_every_launch_that_is_redirected_has_a_function_to_go_to():
    text = Path(_extension.__file__).with_name("_extension_launches.cpp").read_text()
    assert sorted(_extension.LAUNCHES) == sorted(re.findall(r"^STAND_BETWEEN\((\w+)", text, re.MULTILINE))


LAUNCHES = """
__global__ void k() {}
extern "C" int launch() { return cudaLaunchKernel((const void*)k, dim3(1), dim3(1), nullptr, 0, nullptr); }
extern "C" void launch_by_chevrons() { k<<<1, 1>>>(); }
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")
@pytest.mark.skipif(native.gpu() is not None, reason="there is a GPU, so launches succeed")
def test_launches_that_are_switched_off_succeed_and_reach_no_driver(tmp_path):
    extension = native.Extension("m", {"k.cu": LAUNCHES}, cuda=True)
    native.compile_source(extension.source(), tmp_path / "m.so")
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    assert library.launch() != 0
    library.kernelwright_mute_launches()
    assert library.launch() == 0
    library.launch_by_chevrons()
