"""Finding the compiler."""

import shutil
import stat

import pytest

from kernelwright import native


def program(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_compiler_on_the_path_is_found_with_its_version():
    found = native.toolchain()
    assert found.path.exists()
    assert any(character.isdigit() for character in found.version)


def test_the_variable_wins_over_the_path(tmp_path, monkeypatch):
    mine = program(tmp_path / "my-c++", "echo my compiler 1.0")
    monkeypatch.setenv("KERNELWRIGHT_CXX", str(mine))
    assert native.toolchain() == native.Toolchain(mine, "my compiler 1.0")


def test_clang_will_do_where_gcc_is_missing(tmp_path, monkeypatch):
    program(tmp_path / "clang++", "echo clang 99")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native.toolchain().version == "clang 99"


def test_without_a_compiler_the_error_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(native.ToolchainError, match="run `apt-get install g\\+\\+`"):
        native.toolchain()


def test_the_install_command_is_of_the_package_manager_that_is_there(tmp_path, monkeypatch):
    program(tmp_path / "dnf", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("apt-get") is None
    assert native.install_command() == "dnf install gcc-c++"


def test_a_wrong_variable_is_named_in_the_error(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", "no-such-compiler")
    with pytest.raises(native.ToolchainError, match="KERNELWRIGHT_CXX is 'no-such-compiler'"):
        native.toolchain()


def test_a_program_that_is_no_compiler_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CXX", str(program(tmp_path / "broken", "exit 3")))
    with pytest.raises(native.ToolchainError, match="does not answer --version"):
        native.toolchain()
