"""Shared memory as the judge sees it: drawn inputs, the slots that workers read, and other processes' tensors.

Everything is numpy over raw bytes. The judge never makes a tensor and never asks a worker for a value: it reads
the memory at the address it was told and checks what lies there.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.judge import _kernel
from kernelwright.judge._halves import in_halves
from kernelwright.judge._tree import Tree

Array = npt.NDArray[Any]
Leaf = dict[str, Any]

F_SEAL_FUTURE_WRITE = 0x0010
ALIGN = 64
RED_ZONE = 4096
# What lies around inputs: not a number, a huge positive or a huge negative number, whatever the float format.
RED_BYTES = (0xFF, 0x7F, 0xFE)
MOST_SHIFT = 4096
MOST_SPREAD = 64
BUFFER_STEP = 1 << 16

NUMPY: dict[str, np.dtype[Any]] = {
    "float64": np.dtype("f8"),
    "float32": np.dtype("f4"),
    "float16": np.dtype("f2"),
    "bfloat16": np.dtype("u2"),
    "int64": np.dtype("i8"),
    "int32": np.dtype("i4"),
    "int16": np.dtype("i2"),
    "int8": np.dtype("i1"),
    "uint8": np.dtype("u1"),
    "bool": np.dtype("?"),
}
FLOATS = frozenset({"float64", "float32", "float16", "bfloat16"})


class Unreadable(Exception):
    """A process said that a tensor lies where no readable memory is."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Tensors in one piece of shared memory, as a reference worker wrote them."""

    tree: Tree
    leaves: list[Leaf]
    data: Array

    @classmethod
    def from_fd(cls, fd: int, tree: Tree, leaves: list[Leaf]) -> Packed:
        size = os.fstat(fd).st_size
        data = np.frombuffer(mmap.mmap(fd, size, prot=mmap.PROT_READ), dtype=np.uint8)
        os.close(fd)
        return cls(tree, leaves, data)

    @property
    def nbytes(self) -> int:
        return int(sum(leaf["nbytes"] for leaf in self.leaves))

    def values(self, index: int) -> Array:
        """A dense leaf's values, in order."""
        leaf = self.leaves[index]
        raw = self.data[leaf["offset"] : leaf["offset"] + leaf["nbytes"]]
        return raw.view(NUMPY[leaf["dtype"]])


@dataclass(frozen=True, eq=False)
class Placed:
    """Inputs as they lie in a slot: what a worker is told, and what must still be there afterwards."""

    tree: Tree
    leaves: list[Leaf]
    source: Packed
    start: int
    stop: int
    red: int


class Stage:
    """The slots from which workers read inputs. Workers map it privately: what they write, only they see."""

    def __init__(self, slot_bytes: int, slots: int) -> None:
        self.slot_bytes = -(-slot_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
        self.slots = slots
        self.fd = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.slot_bytes * slots)
        mapped = mmap.mmap(self.fd, self.slot_bytes * slots)
        # From here on this mapping is the only one through which the contents can change.
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL | F_SEAL_FUTURE_WRITE
        _kernel.seal(self.fd, seals)
        self._bytes: Array = np.frombuffer(mapped, dtype=np.uint8)

    @staticmethod
    def needed(inputs: Packed) -> int:
        return inputs.nbytes + (len(inputs.leaves) + 1) * (RED_ZONE + 2 * ALIGN) + MOST_SHIFT

    def place(self, inputs: Packed, slot: int, *, shifted: bool = True) -> Placed:
        """Chooses where in a slot inputs will lie: between red zones, at addresses nobody can foretell."""
        start = slot * self.slot_bytes
        shift = random.SystemRandom().randrange(0, MOST_SHIFT, ALIGN) if shifted else 0
        position = start + shift + RED_ZONE
        leaves = []
        for leaf in inputs.leaves:
            position += -position % ALIGN + leaf["offset"] % ALIGN
            leaves.append({**leaf, "offset": position})
            position += leaf["nbytes"] + RED_ZONE
        return Placed(inputs.tree, leaves, inputs, start, position, random.choice(RED_BYTES))

    def fill(self, placed: Placed) -> None:
        """Writes the contents and the red zones around them."""
        position = placed.start
        for leaf, source in zip(placed.leaves, placed.source.leaves, strict=True):
            start, stop = leaf["offset"], leaf["offset"] + leaf["nbytes"]
            self._bytes[position:start] = placed.red
            _copy(placed.source.data[source["offset"] : source["offset"] + source["nbytes"]], self._bytes[start:stop])
            position = stop
        self._bytes[position : placed.stop] = placed.red

    def content(self, placed: Placed) -> Array:
        return self._bytes[placed.start : placed.stop]

    def close(self) -> None:
        os.close(self.fd)
        self._bytes = np.empty(0, dtype=np.uint8)


@dataclass(eq=False)
class Reader:
    """Reads tensors out of another process, into buffers that outlive it: fresh pages would cost more than the copy."""

    pid: int
    buffers: dict[int, Array] = field(default_factory=dict)

    def raw(self, address: int, length: int) -> Array:
        size = -(-length // BUFFER_STEP) * BUFFER_STEP
        if size not in self.buffers:
            self.buffers[size] = np.empty(size, dtype=np.uint8)
        buffer = self.buffers[size][:length]
        try:
            got = sum(in_halves(lambda part: self._read(address, buffer, part), length))
        except OSError as error:
            raise Unreadable(str(error)) from error
        if got != length:
            raise Unreadable(f"only {got} of {length} bytes at the address given are mapped")
        return buffer

    def _read(self, address: int, buffer: Array, part: slice) -> int:
        return _kernel.read_memory(self.pid, address + part.start, buffer[part].data)

    def tensor(self, leaf: Leaf) -> Array:
        """A tensor's values in order, dense. Valid until the next read of the same size."""
        dtype = NUMPY[leaf["dtype"]]
        if 0 in leaf["shape"]:
            return np.empty(0, dtype=dtype)
        raw = self.raw(leaf["ptr"], extent(leaf)).view(dtype)
        if is_dense(leaf):
            return raw
        steps = [stride * dtype.itemsize for stride in leaf["strides"]]
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(raw, leaf["shape"], steps)).reshape(-1)

    def sample(self, leaf: Leaf, offsets: Array | list[int], length: int) -> Array:
        """Pieces of a tensor, read in one system call."""
        out = np.empty(len(offsets) * length, dtype=np.uint8)
        ranges = [(leaf["ptr"] + int(offset), length) for offset in offsets]
        try:
            got = _kernel.read_ranges(self.pid, ranges, out.data)
        except OSError as error:
            raise Unreadable(str(error)) from error
        if got != len(out):
            raise Unreadable("parts of the result are not mapped")
        return out


def _copy(source: Array, target: Array) -> None:
    def copy(part: slice) -> None:
        target[part] = source[part]

    in_halves(copy, len(source))


def same_bytes(left: Array, right: Array) -> bool:
    """Bit for bit, eight bytes at a time."""
    one, two = left.view(np.uint8), right.view(np.uint8)
    whole = len(one) // 8 * 8
    return (
        len(one) == len(two)
        and np.array_equal(one[:whole].view(np.uint64), two[:whole].view(np.uint64))
        and np.array_equal(one[whole:], two[whole:])
    )


def count(leaf: Leaf) -> int:
    return int(np.prod(leaf["shape"], dtype=np.int64))


def extent(leaf: Leaf) -> int:
    """Bytes from a tensor's first to its last element."""
    reach = sum((size - 1) * stride for size, stride in zip(leaf["shape"], leaf["strides"], strict=True))
    return int((reach + 1) * NUMPY[leaf["dtype"]].itemsize)


def is_dense(leaf: Leaf) -> bool:
    expected = 1
    for size, stride in zip(reversed(leaf["shape"]), reversed(leaf["strides"]), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def well_formed(leaf: Any) -> bool:
    """Whether what a worker says of a tensor can be true at all."""
    try:
        shape, strides = leaf["shape"], leaf["strides"]
        plain = all(type(number) is int and 0 <= number < 1 << 40 for number in (*shape, *strides, leaf["ptr"] >> 24))
        if not plain or len(shape) != len(strides) or leaf["dtype"] not in NUMPY:
            return False
        size = max(1, count(leaf)) * NUMPY[leaf["dtype"]].itemsize
        return 0 in shape or extent(leaf) <= MOST_SPREAD * size
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return False


def as_float(values: Array, dtype: str) -> Array:
    """Values of any float type in a type numpy can calculate with."""
    if dtype == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    if dtype == "float16":
        return values.astype(np.float32)
    return values
