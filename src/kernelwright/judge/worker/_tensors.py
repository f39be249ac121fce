"""Tensors on top of shared memory, and tensors described so that another process can read them by address."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import torch

from kernelwright.judge import _kernel
from kernelwright.judge._tree import Tree, encode

MADV_POPULATE_READ = 22
ALIGN = 64

DTYPES = {str(value).removeprefix("torch."): value for value in vars(torch).values() if isinstance(value, torch.dtype)}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


_home = "cpu"


def settle_on(device: str) -> None:
    """From now on, in this process, tensors lie on this kind of device."""
    global _home
    _home = device


def exact_tensor(value: Any) -> bool:
    """A plain dense tensor in the memory where it belongs: what can be read by its address, asking it nothing."""
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        return False
    return value.device.type == _home and value.layout == torch.strided and not value.is_neg() and not value.is_conj()


def span(tensor: torch.Tensor) -> int:
    """Bytes from the first to the last element in memory."""
    if tensor.numel() == 0:
        return 0
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (reach + 1) * tensor.element_size()


def describe(tensor: torch.Tensor) -> dict[str, Any]:
    return {
        "ptr": tensor.data_ptr(),
        "dtype": dtype_name(tensor.dtype),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
    }


def describe_tree(value: Any) -> tuple[Tree, list[dict[str, Any]]]:
    leaves: list[torch.Tensor] = []
    tree = encode(value, exact_tensor, leaves)
    return tree, [describe(leaf) for leaf in leaves]


def glance(tensor: torch.Tensor, places: list[float]) -> list[tuple[int, str]]:
    """A few elements as they are now: how many bytes from the first element each lies, and its bytes."""
    number, size, base = tensor.numel(), tensor.element_size(), tensor.data_ptr()
    if not number:
        return []
    offsets = [_offset(tensor, int(place * number)) * size for place in places]
    return [(offset, ctypes.string_at(base + offset, size).hex()) for offset in offsets]


def _offset(tensor: torch.Tensor, index: int) -> int:
    if tensor.is_contiguous():
        return index
    offset = 0
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()), strict=True):
        index, place = divmod(index, size)
        offset += place * stride
    return offset


class Mapping:
    """A view of shared memory. Private: what is written here is seen by nobody else."""

    def __init__(self, fd: int, *, private: bool) -> None:
        size = os.fstat(fd).st_size
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        self._map = mmap.mmap(fd, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        os.close(fd)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._populate()

    def _populate(self) -> None:
        """Page faults belong to no kernel's time."""
        try:
            self._map.madvise(MADV_POPULATE_READ)
        except OSError:
            for offset in range(0, len(self._map), mmap.PAGESIZE):
                self._map[offset]

    def tensor(self, leaf: dict[str, Any]) -> torch.Tensor:
        """A new tensor object over the bytes that `leaf` names."""
        dtype, shape, strides = DTYPES[leaf["dtype"]], leaf["shape"], leaf["strides"]
        if 0 in shape:
            return torch.empty(shape, dtype=dtype)
        count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        flat = torch.frombuffer(self._map, dtype=dtype, offset=leaf["offset"], count=count)
        return flat.as_strided(shape, strides)


def pack(tensors: list[torch.Tensor], name: str) -> tuple[int, list[dict[str, Any]]]:
    """Writes tensors, layout and all, into new shared memory; its descriptor and where each one lies."""
    leaves, size = [], 0
    for tensor in tensors:
        size += -size % ALIGN + tensor.data_ptr() % ALIGN
        leaves.append({**describe(tensor), "offset": size, "nbytes": span(tensor)})
        size += span(tensor)
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, max(size, 1))
    with mmap.mmap(fd, max(size, 1)) as buffer:
        base = ctypes.addressof(view := ctypes.c_char.from_buffer(buffer))
        for leaf in leaves:
            ctypes.memmove(base + leaf["offset"], leaf.pop("ptr"), leaf["nbytes"])
        del view
    _kernel.seal(fd)
    return fd, leaves
