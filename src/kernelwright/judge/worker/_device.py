"""Memory of a device that several processes see: blocks made here, blocks of others, tensors on top of either.

`Cuda` is the real one. `Host` does the same with shared host memory, so that everything built on it can be tried where
there is no GPU; there a result is copied into a block when it is shown.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from kernelwright.judge.worker._tensors import DTYPES, span

MOST_SHARE = 0.55
FAULTS = {
    700: "an illegal memory access",
    702: "a launch ran too long",
    710: "a device-side assert",
    715: "an illegal instruction",
    716: "a misaligned address",
    717: "an invalid address space",
    718: "an invalid program counter",
    719: "a launch failed",
}


@dataclass(frozen=True)
class Block:
    """A piece of memory that can be shown to another process: its number here, where it begins, how long it is."""

    number: int
    base: int
    nbytes: int


class Device(Protocol):
    """What the judge's workers ask of a device."""

    name: str

    def make(self, nbytes: int) -> Block: ...
    def show(self, block: Block) -> int: ...
    def take(self, fd: int, nbytes: int, *, writable: bool = False) -> Block: ...
    def drop(self, block: Block) -> None: ...
    def block_of(self, tensor: torch.Tensor) -> Block | None: ...
    def guard(self, on: bool) -> None: ...
    def settle(self) -> None: ...
    def synchronize(self) -> None: ...
    def free_bytes(self) -> int: ...
    def total_bytes(self) -> int: ...
    def release(self) -> None: ...
    def bytes_at(self, address: int, nbytes: int) -> torch.Tensor: ...
    def have_alone(self) -> None: ...


def tensor_at(device: Device, address: int, leaf: dict[str, Any]) -> torch.Tensor:
    """A tensor object over memory that is already there."""
    dtype, shape, strides = DTYPES[leaf["dtype"]], leaf["shape"], leaf["strides"]
    if 0 in shape:
        return torch.empty(shape, dtype=dtype, device=device.name)
    count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return device.bytes_at(address, count * dtype.itemsize).view(dtype).as_strided(shape, strides)


class Cuda:
    """The first NVIDIA GPU this process sees, through the library in `_device.cpp`."""

    name = "cuda"

    def __init__(self, library: Path, *, own_allocator: bool) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.device_import.restype = self._library.device_make.restype = ctypes.c_uint64
        self._own_allocator = own_allocator
        if own_allocator:
            allocator = torch.cuda.memory.CUDAPluggableAllocator(str(library), "device_allocate", "device_free")
            torch.cuda.memory.change_current_allocator(allocator)
        if not own_allocator:
            # Answers in double beside inputs in single leave holes that nothing fits, unless segments can grow.
            torch._C._accelerator_setAllocatorSettings("expandable_segments:True")
            torch.cuda.set_per_process_memory_fraction(MOST_SHARE)  # others need room beside the oracle
        torch.zeros(1, device="cuda")  # makes the context
        self.synchronize()

    def make(self, nbytes: int) -> Block:
        address = self._library.device_make(ctypes.c_ssize_t(nbytes), 0, None)
        found = self._find(address) if address else None
        if found is None:
            raise torch.OutOfMemoryError(f"CUDA out of memory: {nbytes} bytes for shared blocks")
        return found

    def show(self, block: Block) -> int:
        fd = int(self._library.device_export(ctypes.c_uint64(block.base)))
        if fd < 0:
            raise RuntimeError(f"a block could not be shown (CUDA error {self._library.device_fault()})")
        return fd

    def take(self, fd: int, nbytes: int, *, writable: bool = False) -> Block:
        base = self._library.device_import(fd, ctypes.c_size_t(nbytes), 0, int(writable))
        os.close(fd)
        if not base:
            raise RuntimeError(f"a block could not be taken (CUDA error {self._library.device_fault()})")
        return Block(0, base, nbytes)

    def drop(self, block: Block) -> None:
        self._library.device_unimport(ctypes.c_uint64(block.base), ctypes.c_size_t(block.nbytes), 0)

    def block_of(self, tensor: torch.Tensor) -> Block | None:
        return self._find(tensor.data_ptr())

    def _find(self, address: int) -> Block | None:
        number, base, nbytes = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t()
        found = self._library.device_block(
            ctypes.c_uint64(address), ctypes.byref(number), ctypes.byref(base), ctypes.byref(nbytes)
        )
        return Block(number.value, base.value, nbytes.value) if found else None

    def guard(self, on: bool) -> None:
        self._library.device_guard(int(on))

    def settle(self) -> None:
        self.synchronize()
        self._library.device_collect()

    def synchronize(self) -> None:
        """Waits for everything on the device; a fault of any kernel since the last time shows here."""
        code = self._library.device_synchronize()
        if code:
            raise RuntimeError(f"CUDA error {code}: {FAULTS.get(code, 'a kernel failed')}")

    def free_bytes(self) -> int:
        return int(torch.cuda.mem_get_info()[0])

    def total_bytes(self) -> int:
        return int(torch.cuda.mem_get_info()[1])

    def release(self) -> None:
        """Gives back what is kept for reuse, by whichever allocator there is."""
        if self._own_allocator:
            self.synchronize()
            self._library.device_release()
        else:
            torch.cuda.empty_cache()

    def bytes_at(self, address: int, nbytes: int) -> torch.Tensor:
        """Not by way of `as_tensor`: it takes memory that can only be read for the host's."""
        storage = torch._C._construct_storage_from_data_pointer(address, torch.device("cuda", 0), nbytes)
        return torch.empty(0, dtype=torch.uint8, device="cuda").set_(storage, 0, (nbytes,), (1,))

    def have_alone(self) -> None:
        """Nobody else needs room."""
        torch.cuda.set_per_process_memory_fraction(1.0)


class Host:
    """Shared host memory in the role of a device."""

    name = "cpu"

    def __init__(self) -> None:
        self._maps: dict[int, tuple[mmap.mmap, int]] = {}
        self._made = 0
        self._lent: list[Block] = []
        self._free: list[Block] = []

    def make(self, nbytes: int) -> Block:
        with tempfile.TemporaryFile() as file:  # a candidate may make no memory that is counted nowhere
            fd = os.dup(file.fileno())
        os.ftruncate(fd, nbytes)
        self._made += 1
        return Block(self._made, self._map(fd, nbytes, writable=True), nbytes)

    def _map(self, fd: int, nbytes: int, *, writable: bool) -> int:
        flags = mmap.MAP_SHARED if writable else mmap.MAP_PRIVATE
        held = mmap.mmap(fd, nbytes, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(held))
        self._maps[address] = (held, fd)
        return address

    def show(self, block: Block) -> int:
        return os.dup(self._maps[block.base][1])

    def take(self, fd: int, nbytes: int, *, writable: bool = False) -> Block:
        return Block(0, self._map(fd, nbytes, writable=writable), nbytes)

    def drop(self, block: Block) -> None:
        os.close(self._maps.pop(block.base)[1])

    def block_of(self, tensor: torch.Tensor) -> Block | None:
        """A copy: host tensors do not lie in blocks."""
        if any(base <= tensor.data_ptr() < base + len(held) for base, (held, _) in self._maps.items()):
            return None
        block = self._lend(max(1, span(tensor)))
        ctypes.memmove(block.base, tensor.data_ptr(), span(tensor))
        return block

    def _lend(self, nbytes: int) -> Block:
        """A block for a result, an earlier one if it can be: each is an open file, here and at the referee."""
        block = next((free for free in self._free if free.nbytes == nbytes), None)
        if block is None:
            block = self.make(nbytes)
        else:
            self._free.remove(block)
        self._lent.append(block)
        return block

    def guard(self, on: bool) -> None: ...

    def settle(self) -> None:
        """The results so far are no longer needed."""
        self._free += self._lent
        self._lent = []

    def synchronize(self) -> None: ...

    def free_bytes(self) -> int:
        return 1 << 32

    def total_bytes(self) -> int:
        return 1 << 32

    def release(self) -> None: ...

    def bytes_at(self, address: int, nbytes: int) -> torch.Tensor:
        return torch.frombuffer((ctypes.c_ubyte * nbytes).from_address(address), dtype=torch.uint8)

    def have_alone(self) -> None: ...


def open_device(kind: str, library: Path | None, *, own_allocator: bool) -> Device:
    if kind == "host":
        return Host()
    assert library is not None
    return Cuda(library, own_allocator=own_allocator)
