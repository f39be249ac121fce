"""Code that a driver copies into memory is known again there, but for the addresses it fills in."""

import struct
import subprocess

import pytest

from kernelwright import native
from kernelwright.judge._machine_code import HEADER, SECTION, codes_of

TEXT = """
extern "C" double outside(double);
extern "C" double inside(const double* x, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += x[i] * 3.25 + outside(x[i]);
    return sum;
}
"""


@pytest.fixture(scope="module")
def object_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("object")
    (folder / "k.cpp").write_text(TEXT)
    compiler = str(native.toolchain().path)
    subprocess.run([compiler, "-O1", "-fno-pic", "-c", "k.cpp", "-o", "k.o"], cwd=folder, check=True)
    return (folder / "k.o").read_bytes()


def program(content, name=b".ocl.obj"):
    """A driver's program as it is on disk: an object file within a file of sections."""
    names = b"\0" + name + b"\0.shstrtab\0"
    at = HEADER.size
    table = at + len(content) + len(names)
    heads = [
        (0,) * 10,
        (1, 1, 0, 0, at, len(content), 0, 0, 1, 0),
        (2 + len(name), 3, 0, 0, at + len(content), len(names), 0, 0, 1, 0),
    ]
    magic = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = HEADER.pack(magic, 1, 62, 1, 0, 0, table, 0, HEADER.size, 0, 0, SECTION.size, 3, 2)
    return header + content + names + b"".join(SECTION.pack(*head) for head in heads)


def loaded(code):
    """The code as a driver leaves it: addresses filled in."""
    memory = bytearray(code.content.tobytes())
    for index in range(len(memory)):
        if not code.fixed[index]:
            memory[index] ^= 0x5A
    return bytes(memory)


def test_code_is_found_wherever_the_driver_put_it(object_file):
    (code,) = codes_of(program(object_file))
    assert not code.fixed.all()
    memory = b"\xcc" * 100 + loaded(code) + b"\0" * 50
    assert list(code.found_in(memory)) == [(100, 100 + len(code.content))]


def test_one_changed_instruction_makes_it_somebody_elses(object_file):
    (code,) = codes_of(program(object_file))
    for index in range(len(code.content)):
        memory = bytearray(loaded(code))
        memory[index] ^= 1
        assert bool(list(code.found_in(bytes(memory)))) == (not code.fixed[index])


def test_a_part_of_it_is_not_it(object_file):
    (code,) = codes_of(program(object_file))
    assert list(code.found_in(loaded(code)[:-1])) == []
    assert list(code.found_in(loaded(code)[1:])) == []


def test_an_object_file_anywhere_else_in_the_program_does_not_count(object_file):
    assert codes_of(program(object_file, name=b".rodata!")) == []
    assert codes_of(program(b"constants " + object_file)) == []


@pytest.mark.parametrize("text", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 58, struct.pack("<Q", 0) * 40])
def test_what_is_no_program_has_no_code(text):
    assert codes_of(text) == []
    assert codes_of(program(text)) == []
