"""Whose code lies at an address: known by what the judge compiled, never by a name that a candidate can choose."""

import ctypes
import mmap
import os
import struct
from dataclasses import replace

import numpy as np
import pytest

from kernelwright.judge._coverage import MOST_GLUE, Coverage, Glue, Place, _owner, _Owners, judge_policy
from kernelwright.judge._machine_code import Code
from kernelwright.judge._status import Rejection

EXECUTABLE = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
TEXT = bytes(range(64))


def mapped(fd=-1):
    """Executable memory of this process: of no file, or of one."""
    if fd < 0:
        return mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=EXECUTABLE)
    os.ftruncate(fd, mmap.PAGESIZE)
    return mmap.mmap(fd, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE, prot=EXECUTABLE)


def owner_at(memory, offset=0, *, own=frozenset(), codes=()):
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset
    return _Owners(os.getpid(), set(own), list(codes))._at(address)[1]


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("/usr/lib/libc.so.6", "other"),
        ("/usr/lib/libgomp.so.1", "waiting"),
        ("/usr/lib/libm.so.6", "maths"),
        ("/env/torch/lib/libtorch_cpu.so", "glue"),
        ("/env/lib/libintelocl.so", "other"),
        ("/usr/lib/libblas.so", "library"),
        ("/tmp/mine/libc.so.6", "library"),
        ("/tmp/usr/lib/libm.so.6", "library"),
        ("[anon:/usr/lib/libc.so.6]", "library"),
        ("[vdso]", "other"),
    ],
)
def test_a_known_name_counts_only_where_no_candidate_can_write(path, owner):
    assert _owner(path, ("/usr/", "/env/")) == owner


def test_a_library_of_the_judges_making_is_the_candidates_own():
    library = os.memfd_create("kernel")
    assert owner_at(mapped(library), own={os.fstat(library).st_ino}) == "own"


def test_a_file_with_the_same_inode_number_is_not(tmp_path):
    with (tmp_path / "blas.so").open("w+b") as file:
        assert owner_at(mapped(file.fileno()), own={os.fstat(file.fileno()).st_ino}) == "library"


def test_generated_code_is_its_own_where_it_is_what_was_compiled():
    code = Code(np.frombuffer(TEXT, np.uint8), np.ones(len(TEXT), bool), TEXT, 0)
    memory = mapped()
    memory[100 : 100 + len(TEXT)] = TEXT
    owners = [owner_at(memory, offset, codes=[code]) for offset in (0, 99, 100, 163, 164)]
    assert owners == ["library", "library", "own", "own", "library"]
    assert owner_at(memory, 100) == "library"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="calls are read from x86-64's machine code alone")
def test_maths_works_for_who_calls_it_and_not_for_what_an_earlier_call_has_left_on_the_stack():
    """Another's address lies nearer on the stack; only the caller's call leads to maths."""
    library, others = os.memfd_create("kernel"), mapped()
    memory = mapped(library)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    exponential = ctypes.cast(ctypes.CDLL("libm.so.6").expf, ctypes.c_void_p).value
    memory[11:16] = b"\xe8" + struct.pack("<i", 64 - 16)  # a call of the stub
    memory[64:70] = b"\xff\x25" + struct.pack("<i", 128 - 70)  # the stub: to what the slot holds
    memory[128:136] = struct.pack("<Q", exponential)
    owners = _Owners(os.getpid(), {os.fstat(library).st_ino}, [])
    left_over = ctypes.addressof(ctypes.c_char.from_buffer(others))
    stack = [left_over, *[0] * 200, base + 16]
    assert owners._caller(Place(exponential, stack, False), deep=False)[1] == "own"
    assert owners._caller(Place(exponential, stack[:-1], False), deep=False)[1] == "library"


def test_the_drivers_maths_works_for_the_nearest_generated_code():
    memory = mapped()
    memory[: len(TEXT)] = TEXT
    code = Code(np.frombuffer(TEXT, np.uint8), np.ones(len(TEXT), bool), TEXT, 0)
    owners = _Owners(os.getpid(), set(), [code])
    kernel = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    c_library = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
    stack = [0, c_library, *[0] * 500, kernel + 8]
    assert owners._caller(Place(0, stack, False), deep=True)[1] == "own"
    assert owners._caller(Place(0, stack, False), deep=False) is None


# *** short calls: is torch at work for the kernels, or around them? ***


def watched(**counts):
    return Coverage(call_seconds=2e-4, calls=128, **counts)


def refused(coverage):
    try:
        judge_policy("forbidden", coverage)
    except Rejection:
        return True
    return False


def test_what_torch_does_without_the_kernels_too_is_not_held_against_them():
    coverage = watched(own=4, glue=20, other=90)
    assert refused(coverage)
    coverage.mere_glue = Glue.of(watched(glue=18, other=100))
    assert not refused(coverage)


def test_what_torch_does_only_with_the_kernels_is_their_work():
    assert refused(watched(own=1, glue=60, other=60, mere_glue=Glue.of(watched(glue=12, other=100))))


def test_an_excuse_has_an_end():
    """Who keeps torch busy when his kernels are switched off gains little by it."""
    busy = Glue.of(watched(glue=1000, other=100))
    assert busy.rate == MOST_GLUE
    assert refused(watched(own=1, glue=400, other=60, mere_glue=busy))


# *** a library's product behind more work of one's own ***


def test_a_product_is_weighed_against_the_quickest_call_that_was_seen():
    """Timed calls may all fall into a slow moment; those in which the product was recorded then did not."""
    found = Coverage(own=40, glue=4, call_seconds=9e-3, recorded_seconds=2.4e-3, operator_seconds={"mm": 1.5e-4})
    assert refused(found)
    assert refused(replace(found, call_seconds=2.4e-3, recorded_seconds=9e-3))
    assert not refused(replace(found, recorded_seconds=9e-3))
