"""From text to a shared library, or to an error worth reading."""

import os
import pickle
import stat
import time

import pytest

from kernelwright import native

ONE = 'extern "C" int one() { return 1; }'


def cpp(text, *flags):
    return native.Source("cpp", text, flags)


def slow_compiler(folder):
    """A compiler whose child outlives it unless the whole group is ended; it leaves the child's id behind."""
    path = folder / "slow-c++"
    path.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo slow 1 && exit\nsleep 60 & echo $! > {folder}/child\nwait\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_an_error_starts_with_the_first_complaint_and_keeps_the_whole_log(tmp_path):
    with pytest.raises(native.CompileError) as caught:
        native.compile_source(cpp('extern "C" int f() { return missing + absent; }'), tmp_path / "f.so")
    assert str(caught.value).startswith("kernel.cpp:1:")
    assert "'missing' was not declared" in str(caught.value).splitlines()[0]
    assert "absent" in caught.value.log
    assert str(tmp_path) not in caught.value.log
    assert "\x1b" not in caught.value.log
    assert not (tmp_path / "f.so").exists()


def test_a_symbol_nobody_defines_is_an_error_at_build_time(tmp_path):
    text = 'extern "C" void elsewhere();\nextern "C" void f() { elsewhere(); }'
    with pytest.raises(native.CompileError, match="undefined reference to `elsewhere'"):
        native.compile_source(cpp(text), tmp_path / "f.so")


def test_errors_survive_the_way_between_processes():
    error = pickle.loads(pickle.dumps(native.ToolchainError("headline", "whole\nlog")))
    assert (type(error), error.headline, error.log) == (native.ToolchainError, "headline", "whole\nlog")


def test_a_compiler_that_takes_too_long_is_stopped_with_its_children(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", str(slow_compiler(tmp_path)))
    started = time.monotonic()
    with pytest.raises(native.CompileError, match="took longer"):
        native.compile_source(cpp(ONE), tmp_path / "f.so", timeout=0.5)
    assert time.monotonic() - started < 20
    child = (tmp_path / "child").read_text().strip()
    deadline = time.monotonic() + 5
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def test_an_unknown_language_is_an_error_that_lists_the_known(tmp_path):
    with pytest.raises(native.CompileError, match="'fortran'; known: cpp"):
        native.compile_source(native.Source("fortran", ONE), tmp_path / "f.so")


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=evil.so",
        "-fplugin-arg-x-y",
        "-fmodule-mapper=|program",
        "-fuse-ld=mine",
        "-fdump-tree-all",
        "-fprofile-use=elsewhere",
        "-fsanitize=address",
        "-fauto-profile=/etc/passwd",
        "-wrapper",
        "-specs=mine",
        "-B.",
        "-I/tmp",
        "-L/tmp",
        "-lcurl",
        "@options",
        "-include",
        "-Wl,-rpath=/tmp",
        "-Wp,-I/tmp",
        "-o",
        "-x",
        "other.cpp",
        "",
    ],
)
def test_flags_that_reach_beyond_the_text_are_refused(flag, tmp_path):
    with pytest.raises(native.CompileError, match="is not allowed") as caught:
        native.compile_source(cpp(ONE, flag), tmp_path / "f.so")
    assert repr(flag) in str(caught.value)


def test_flags_that_shape_the_code_are_passed_on():
    text = 'extern "C" int f() { return N * (__OPTIMIZE__ + 0) + (__cplusplus > 201703L); }'
    flags = ["-DN=41", "-O1", "-std=gnu++17", "-funroll-loops", "-mtune=native", "-Wall", "-fno-exceptions"]
    assert native.cpp(text, flags).f() == 41


def test_flags_may_be_one_string():
    assert native.cpp('extern "C" int f() { return A + B; }', "-DA=1 -DB=2").f() == 3


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast"])
def test_fast_math_in_one_library_leaves_the_process_its_subnormals(flag):
    # The linker's start-up code would flush them in every later computation, the reference's included.
    native.cpp('extern "C" double same(double a) { return a; }', [flag]).same(1.0)
    assert 5e-324 * 1.0 != 0.0


def test_by_default_sums_are_not_reordered():
    text = 'extern "C" int f() {\n#ifdef __FAST_MATH__\nreturn 1;\n#else\nreturn 0;\n#endif\n}'
    assert native.cpp(text).f() == 0


def test_the_folder_compiled_in_is_gone_afterwards(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    native.compile_source(cpp(ONE), tmp_path / "one.so")
    assert os.listdir(scratch) == []
    assert (tmp_path / "one.so").stat().st_size > 0
