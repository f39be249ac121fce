"""Finding a backend by name or by what a candidate uses, and whether it works here."""

import pytest

from kernelwright import backends
from kernelwright.backends import _registry

PLAIN = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"


def test_the_built_in_languages_are_known():
    assert backends.names() == ("cpp", "cuda", "python", "sycl", "triton")
    assert backends.get("cpp").name == "cpp"


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(
        backends.UnknownBackendError, match=r"'pyton'; did you mean python\? known: cpp, cuda, python, sycl, triton"
    ):
        backends.get("pyton")


def test_a_registered_class_is_found_and_takes_part_in_detection(monkeypatch):
    monkeypatch.setattr(_registry, "_backends", dict(_registry._backends))

    @backends.register
    class Zig(backends.Backend):
        name = "zig"

        def available(self):
            return backends.Availability(False, "no zig", "pip install ziglang")

        def recognises(self, candidate_text):
            return "zig" in candidate_text

    assert backends.names() == ("cpp", "cuda", "python", "sycl", "triton", "zig")
    assert backends.detect(PLAIN + "# zig") == "zig"
    assert backends.get("zig").available().fix == "pip install ziglang"


@pytest.mark.parametrize(
    "text",
    [
        "from kernelwright import native\nlib = native.cpp('')",
        "from kernelwright import native as n\nlib = n.cpp('')",
        "import kernelwright.native\nlib = kernelwright.native.cpp('')",
        "import kernelwright.native as kn\nbuild = kn.cpp\nlib = build('')",
        "from kernelwright.native import cpp as compile_it\ndef make():\n    return compile_it('')",
        "from torch.utils.cpp_extension import load_inline\nm = load_inline(name='m', cpp_sources='')",
    ],
)
def test_a_candidate_that_compiles_cpp_is_cpp_however_it_names_it(text):
    assert backends.detect(text) == "cpp"
    assert not backends.get("python").recognises(text)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "# native.cpp('')\n" + PLAIN,
        "note = 'native.cpp(text)'\n" + PLAIN,
        "from elsewhere import native\nlib = native.cpp('')",
        "from kernelwright import native\nlibrary = native.Library",
    ],
)
def test_mentioning_cpp_is_not_using_it(text):
    assert backends.detect(text) == "python"
    assert backends.get("python").recognises(text)


def test_inline_cuda_is_not_cpp():
    text = "from torch.utils.cpp_extension import load_inline\nm = load_inline(cpp_sources='', cuda_sources='k')"
    assert not backends.get("cpp").recognises(text)


@pytest.mark.parametrize("text", ["def broken(:", "\0", "(" * 3000, "x = " + "-" * 900 + "1"])
def test_what_is_not_readable_python_belongs_to_nobody_and_falls_to_python(text):
    assert not any(backends.get(name).recognises(text) for name in backends.names())
    assert backends.detect(text) == "python"
    assert backends.get("cpp").screen(text) == ("unreadable:1",)


def test_python_is_always_available():
    assert backends.get("python").available().ok


def test_cpp_is_available_where_a_program_with_openmp_builds():
    found = backends.get("cpp").available()
    assert found.ok
    assert "++" in found.detail


def test_without_a_compiler_cpp_says_which_command_installs_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = backends.get("cpp").available()
    assert (found.ok, found.fix) == (False, "apt-get install g++")


def test_a_wrong_choice_of_compiler_is_to_be_unset(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", "no-such-compiler")
    found = backends.get("cpp").available()
    assert (found.ok, found.fix) == (False, "unset KERNELWRIGHT_CXX")


def test_a_cache_that_cannot_be_written_is_reported_not_raised(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "file"))
    found = backends.get("cpp").available()
    assert not found.ok
    assert "KERNELWRIGHT_CACHE" in found.fix


@pytest.mark.parametrize(
    "text",
    ["from kernelwright.native import sycl\nlib = sycl('')", "from kernelwright import native\nlib = native.sycl('')"],
)
def test_a_candidate_that_compiles_sycl_is_sycl(text):
    assert backends.detect(text) == "sycl"
    assert backends.get("sycl").screen(text) == ()


def test_sycl_text_is_screened_like_any_native_text():
    text = 'from kernelwright import native\nlib = native.sycl(\'extern "C" void f() { asm("nop"); }\')\n'
    assert backends.get("sycl").screen(text) == ("native-asm:2",)


def test_without_its_packages_sycl_says_which_command_installs_them(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    found = backends.get("sycl").available()
    assert (found.ok, found.fix) == (False, "pip install 'kernelwright[sycl]'")
    assert "not installed" in found.detail


def test_without_a_host_compiler_sycl_asks_for_that_first(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert backends.get("sycl").available().fix == "apt-get install g++"
