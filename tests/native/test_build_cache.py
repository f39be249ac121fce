"""Libraries kept on disk by what went into them."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from kernelwright import native
from kernelwright.native import _toolchain

SOURCE = native.Source("cpp", 'extern "C" int one() { return 1; }')


class Recorder:
    """Stands in for the compiler: writes something, counts how often."""

    def __init__(self, content=b"library"):
        self.content = content
        self.built = []

    def __call__(self, source, output):
        self.built.append(source)
        output.write_bytes(self.content)


def test_the_second_request_is_not_built_again(tmp_path):
    build, cache = Recorder(), native.BuildCache(tmp_path)
    assert cache.get(SOURCE, build) == cache.get(SOURCE, build)
    assert build.built == [SOURCE]


def test_another_process_with_the_same_folder_finds_the_entry(tmp_path):
    native.BuildCache(tmp_path).get(SOURCE, Recorder())
    later = Recorder()
    native.BuildCache(tmp_path).get(SOURCE, later)
    assert later.built == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: b"X" + content[1:],
        lambda content: b"never sealed",
    ],
)
def test_a_damaged_entry_is_built_again(tmp_path, damage):
    cache = native.BuildCache(tmp_path)
    entry = cache.get(SOURCE, Recorder())
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert cache.get(SOURCE, Recorder()).read_bytes() == whole


def test_a_rebuilt_entry_leaves_the_file_others_have_open_as_it_was(tmp_path):
    cache = native.BuildCache(tmp_path)
    entry = cache.get(SOURCE, Recorder())
    entry.write_bytes(b"damaged")
    with entry.open("rb") as held:
        cache.get(SOURCE, Recorder())
        assert held.read() == b"damaged"


def test_a_failed_build_leaves_nothing_behind(tmp_path):
    def fail(source, output):
        output.write_bytes(b"half a lib")
        raise native.CompileError("no")

    with pytest.raises(native.CompileError, match="no"):
        native.BuildCache(tmp_path).get(SOURCE, fail)
    assert os.listdir(tmp_path) == []


def test_a_build_that_leaves_no_library_is_an_error(tmp_path):
    with pytest.raises(native.CompileError, match="without a library"):
        native.BuildCache(tmp_path).get(SOURCE, lambda source, output: None)


def test_builders_that_race_all_get_a_whole_library(tmp_path):
    everyone = Barrier(4)

    def build(source, output):
        everyone.wait(timeout=10)
        output.write_bytes(b"library" * 1000)

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(native.BuildCache(tmp_path).get, SOURCE, build) for _ in range(4)]
        entries = {job.result() for job in jobs}
    assert len(entries) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == [entries.pop().name]


def test_a_sealed_library_still_loads(tmp_path):
    path = native.BuildCache(tmp_path).get(SOURCE)
    native.set_builder(lambda source: path)
    try:
        assert native.cpp(SOURCE.text).one() == 1
    finally:
        native.set_builder(None)


@pytest.mark.parametrize(
    "other",
    [
        native.Source("cpp", SOURCE.text + " "),
        native.Source("cpp", SOURCE.text, ("-O2",)),
        native.Source("cpp", SOURCE.text, ("-O2", "-g")),
    ],
)
def test_text_and_flags_decide_the_key(other):
    assert native.build_key(other) != native.build_key(SOURCE)
    assert native.build_key(SOURCE) == native.build_key(native.Source("cpp", SOURCE.text))


def test_another_processor_has_another_key(monkeypatch):
    before = native.build_key(SOURCE)
    monkeypatch.setattr("kernelwright.native._cpp.cpu_identity", lambda: "a processor of 1985")
    assert native.build_key(SOURCE) != before


def test_another_compiler_version_has_another_key(monkeypatch):
    before = native.build_key(SOURCE)
    newer = native.Toolchain(Path("g++"), "g++ 99")
    monkeypatch.setattr("kernelwright.native._cpp.toolchain", lambda: newer)
    assert native.build_key(SOURCE) != before


def test_the_processor_is_told_by_its_instruction_sets():
    assert any(line.startswith(("flags", "Features")) for line in _toolchain.cpu_identity().splitlines())


def test_the_cache_folder_is_chosen_by_variable_then_by_convention(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert native.cache_dir() == tmp_path / "mine"
    monkeypatch.delenv("KERNELWRIGHT_CACHE")
    assert native.cache_dir() == tmp_path / "xdg" / "kernelwright"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert native.cache_dir() == tmp_path / ".cache" / "kernelwright"
