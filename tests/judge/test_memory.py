"""Inputs lie between red zones with their alignment kept; other processes' tensors are read, never asked for."""

import ctypes
import mmap
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge import _kernel
from kernelwright.judge._memory import (
    ALIGN,
    NUMPY,
    RED_ZONE,
    Packed,
    Placed,
    Reader,
    Stage,
    Unreadable,
    count,
    extent,
    is_dense,
    same_bytes,
    well_formed,
)

PIECES = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, ALIGN - 1)), min_size=1, max_size=5)


def packed(pieces: list[tuple[int, int]]) -> Packed:
    """Leaves of these lengths, each at this distance from an aligned address."""
    leaves, size = [], 0
    for nbytes, off in pieces:
        size += -size % ALIGN + off
        leaves.append({"dtype": "uint8", "shape": [nbytes], "strides": [1], "offset": size, "nbytes": nbytes})
        size += nbytes
    data = np.random.default_rng(0).integers(0, 255, size, dtype=np.uint8)
    return Packed({}, leaves, data)


def put(stage: Stage, inputs: Packed, slot: int = 0, *, shifted: bool = True) -> Placed:
    placed = stage.place(inputs, slot, shifted=shifted)
    stage.fill(placed)
    return placed


def leaf_of(array: np.ndarray, dtype: str | None = None) -> dict:
    return {
        "ptr": array.ctypes.data,
        "dtype": dtype or array.dtype.name,
        "shape": list(array.shape),
        "strides": [stride // array.itemsize for stride in array.strides],
    }


# Stage


@given(pieces=PIECES, slot=st.integers(0, 2), shifted=st.booleans())
def test_inputs_lie_in_their_slot_between_red_zones_as_aligned_as_they_came(pieces, slot, shifted):
    inputs = packed(pieces)
    stage = Stage(Stage.needed(inputs), 3)
    try:
        placed = put(stage, inputs, slot, shifted=shifted)
        content = stage.content(placed).copy()
    finally:
        stage.close()
    assert placed.start == slot * stage.slot_bytes
    assert placed.stop <= (slot + 1) * stage.slot_bytes
    position = placed.start
    for leaf, source in zip(placed.leaves, inputs.leaves, strict=True):
        assert leaf["offset"] % ALIGN == source["offset"] % ALIGN
        assert leaf["offset"] - position >= RED_ZONE
        inner = leaf["offset"] - placed.start
        assert (content[position - placed.start : inner] == placed.red).all()
        wanted = inputs.data[source["offset"] : source["offset"] + source["nbytes"]]
        assert np.array_equal(content[inner : inner + leaf["nbytes"]], wanted)
        position = leaf["offset"] + leaf["nbytes"]
    assert placed.stop - position >= RED_ZONE
    assert (content[position - placed.start :] == placed.red).all()


def test_placing_again_leaves_nothing_of_what_was_there():
    stage = Stage(Stage.needed(packed([(3000, 0)])), 1)
    put(stage, packed([(3000, 0)]), shifted=False)
    placed = put(stage, packed([(10, 0)]), shifted=False)
    content = stage.content(placed)
    inner = placed.leaves[0]["offset"]
    assert (content[inner + 10 :] == placed.red).all()
    stage.close()


def test_addresses_differ_from_call_to_call_unless_told_not_to():
    inputs = packed([(100, 0)])
    stage = Stage(Stage.needed(inputs), 1)
    free = {stage.place(inputs, 0).leaves[0]["offset"] for _ in range(50)}
    fixed = {stage.place(inputs, 0, shifted=False).leaves[0]["offset"] for _ in range(50)}
    stage.close()
    assert len(free) > 5
    assert len(fixed) == 1


def test_slots_do_not_overlap():
    inputs = packed([(5000, 3)])
    stage = Stage(Stage.needed(inputs), 3)
    first = put(stage, inputs, 0)
    before = stage.content(first).copy()
    put(stage, inputs, 1)
    put(stage, inputs, 2)
    assert np.array_equal(stage.content(first), before)
    stage.close()


def test_packed_values_are_those_of_the_leaf():
    values = np.arange(10, dtype=np.float32)
    data = np.frombuffer(b"\0" * 64 + values.tobytes(), dtype=np.uint8)
    leaf = {"dtype": "float32", "shape": [10], "strides": [1], "offset": 64, "nbytes": 40}
    assert np.array_equal(Packed({}, [leaf], data).values(0), values)


# Reader


@pytest.fixture
def reader():
    return Reader(os.getpid())


@pytest.mark.parametrize("dtype", sorted(NUMPY))
def test_a_dense_tensor_is_read_as_it_lies(reader, dtype):
    array = np.random.default_rng(1).integers(0, 2, (7, 5)).astype(NUMPY[dtype])
    assert np.array_equal(reader.tensor(leaf_of(array, dtype)), array.reshape(-1))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[:, ::2],
        lambda a: a[::3],
        lambda a: a[1:, 1:],
        lambda a: a[:1],
        lambda a: a[2:3, 3:4].reshape(()),
        lambda a: np.broadcast_to(a[:, :1], (9, 4)),
    ],
)
def test_a_strided_tensor_is_read_in_its_own_order(reader, view):
    array = view(np.arange(99.0, dtype=np.float32).reshape(9, 11))
    assert np.array_equal(reader.tensor(leaf_of(array)), array.reshape(-1))


def test_a_tensor_without_elements_is_not_read_at_all(reader):
    leaf = {"ptr": 0, "dtype": "float32", "shape": [3, 0], "strides": [0, 1]}
    assert len(reader.tensor(leaf)) == 0


def test_two_tensors_of_one_size_can_be_held_at_once_after_a_copy(reader):
    one, two = np.arange(5.0), np.arange(5.0) + 10
    first = reader.tensor(leaf_of(one)).copy()
    assert np.array_equal(reader.tensor(leaf_of(two)), two)
    assert np.array_equal(first, one)


@pytest.mark.parametrize("address", [0, 8, 1 << 46, (1 << 63) - 4096])
def test_memory_that_is_not_there_is_unreadable(reader, address):
    with pytest.raises(Unreadable):
        reader.raw(address, 64)


def test_memory_that_ends_half_way_is_unreadable(reader):
    region = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(view := ctypes.c_char.from_buffer(region))
    _kernel.check(_kernel.libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0), "mprotect")
    assert len(reader.raw(start, mmap.PAGESIZE)) == mmap.PAGESIZE
    with pytest.raises(Unreadable):
        reader.raw(start, 2 * mmap.PAGESIZE)
    with pytest.raises(Unreadable):
        reader.sample({"ptr": start}, np.array([0, mmap.PAGESIZE]), 64)
    del view
    region.close()


def test_a_process_that_is_gone_is_unreadable():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(Unreadable):
        Reader(pid).raw(np.zeros(8).ctypes.data, 8)


def test_a_child_sees_its_own_values_and_so_does_the_reader(reader):
    """What lies at one address differs between processes: it is the named process that is read."""
    array = np.zeros(4)
    ready, done = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        array[:] = 7
        os.write(ready[1], b"!")
        os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    assert Reader(pid).tensor(leaf_of(array)).tolist() == [7, 7, 7, 7]
    assert reader.tensor(leaf_of(array)).tolist() == [0, 0, 0, 0]
    os.write(done[1], b"!")
    os.waitpid(pid, 0)
    for fd in (*ready, *done):
        os.close(fd)


@pytest.mark.parametrize("pieces", [1, 48, 1500])
def test_pieces_are_read_in_the_order_asked(reader, pieces):
    array = np.random.default_rng(2).integers(0, 255, 1 << 18, dtype=np.uint8)
    offsets = np.random.default_rng(3).integers(0, (1 << 18) - 64, pieces)
    wanted = np.concatenate([array[offset : offset + 64] for offset in offsets])
    assert np.array_equal(reader.sample(leaf_of(array), offsets, 64), wanted)


# Leaves


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_same_bytes_is_equality_of_bytes(left, right):
    as_array = [np.frombuffer(data, dtype=np.uint8) for data in (left, right)]
    assert same_bytes(*as_array) is (left == right)
    assert same_bytes(as_array[0], as_array[0].copy())


def test_same_bytes_tells_zeros_and_nans_apart():
    assert not same_bytes(np.array([0.0]), np.array([-0.0]))
    assert same_bytes(np.array([np.nan]), np.array([np.nan]))


@given(
    shape=st.lists(st.integers(1, 4), max_size=4),
    data=st.data(),
)
def test_dense_means_what_numpy_calls_contiguous(shape, data):
    array = np.zeros(shape, dtype=np.float32)
    array = array.transpose(data.draw(st.permutations(range(len(shape)))))
    for axis in range(array.ndim):
        step = data.draw(st.sampled_from([1, 1, 2]))
        array = array[(slice(None),) * axis + (slice(None, None, step),)]
    leaf = leaf_of(array)
    assert is_dense(leaf) is bool(array.flags.c_contiguous)
    assert count(leaf) == array.size
    low, high = np.lib.array_utils.byte_bounds(array)
    assert extent(leaf) == high - low


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(sorted(NUMPY)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
NUMBERS = st.lists(st.integers(-2, 1 << 64), max_size=4) | st.lists(st.integers(0, 8), max_size=4)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "shape": NUMBERS | JSON,
        "strides": NUMBERS | JSON,
        "ptr": st.integers(-1, 1 << 70) | JSON,
        "dtype": st.sampled_from(sorted(NUMPY)) | JSON,
    },
)


@given(JSON | LEAVES)
def test_whatever_a_worker_says_of_a_tensor_is_judged_without_an_exception(said):
    assert well_formed(said) in (True, False)


GOOD = {"ptr": 1 << 40, "dtype": "float32", "shape": [2, 3], "strides": [3, 1]}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"shape": [], "strides": []},
        {"shape": [0, 5]},
        {"strides": [0, 0]},
        {"strides": [1, 2]},
    ],
)
def test_what_a_tensor_can_be_is_well_formed(changes):
    assert well_formed({**GOOD, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [2]},
        {"shape": [-1, 3]},
        {"shape": [2.0, 3]},
        {"shape": [True, 3]},
        {"shape": "23"},
        {"shape": "", "strides": ""},
        {"strides": [3, -1]},
        {"strides": [1 << 30, 1]},
        {"dtype": "complex64"},
        {"dtype": ["float32"]},
        {"ptr": -1},
        {"ptr": 1 << 80},
        {"ptr": "0x10"},
    ],
)
def test_what_no_tensor_can_be_is_not_well_formed(changes):
    assert not well_formed({**GOOD, **changes})


@pytest.mark.parametrize("missing", ["ptr", "dtype", "shape", "strides"])
def test_a_description_that_lacks_a_part_is_not_well_formed(missing):
    assert not well_formed({key: value for key, value in GOOD.items() if key != missing})


def test_memory_that_the_kernel_holds_for_a_moment_is_sealed_all_the_same(monkeypatch):
    fd = os.memfd_create("held", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, mmap.PAGESIZE)
    held = mmap.mmap(fd, mmap.PAGESIZE)  # a writable mapping makes the same answer: busy
    monkeypatch.setattr(_kernel.time, "sleep", lambda _: held.close())
    _kernel.seal(fd)
    with pytest.raises(PermissionError):
        os.write(fd, b"x")
