"""What a device can do at best: bytes and operations a second, measured, and how much of everything it has."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from kernelwright.judge.worker._device import Device

COPIED_BYTES = 1 << 30
SIDE, DOUBLE_SIDE = 8192, 4096
REPEATS = 6
# Where the driver keeps each number (CUdevice_attribute).
ATTRIBUTES = {
    "processors": 16,
    "warp": 10,
    "threads": 39,
    "blocks": 106,
    "registers": 82,
    "shared_bytes": 81,
    "reserved_shared_bytes": 111,
    "cache_bytes": 38,
}


def measure(device: Device) -> dict[str, Any]:
    """`rates`: multiply-adds count two. `limits`: of one multiprocessor, but for `processors` and `cache_bytes`."""
    if device.name != "cuda":
        return {"name": "host memory", "bytes_per_second": 1e10, "rates": {"fp32": 1e11}, "limits": {}}
    return {
        "name": torch.cuda.get_device_name(),
        "bytes_per_second": _copying(device),
        "rates": {
            "fp32": _multiplying(device, torch.float32, SIDE, tf32=False),
            "tf32": _multiplying(device, torch.float32, SIDE, tf32=True),
            "bf16": _multiplying(device, torch.bfloat16, SIDE),
            "fp16": _multiplying(device, torch.float16, SIDE),
            "fp64": _multiplying(device, torch.float64, DOUBLE_SIDE),
        },
        "limits": {name: _attribute(number) for name, number in ATTRIBUTES.items()},
    }


def _copying(device: Device) -> float:
    """Bytes read and written."""
    source = torch.ones(COPIED_BYTES, dtype=torch.uint8, device=device.name)
    target = torch.empty_like(source)
    return 2 * COPIED_BYTES / _best(device, lambda: target.copy_(source))


def _multiplying(device: Device, dtype: torch.dtype, side: int, *, tf32: bool = False) -> float:
    left, right = (torch.randn(side, side, device=device.name).to(dtype) for _ in range(2))
    out = torch.empty_like(left)
    with _tf32(tf32):
        return 2 * side**3 / _best(device, lambda: torch.mm(left, right, out=out))


@contextmanager
def _tf32(on: bool) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = on
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _best(device: Device, work: Callable[[], Any]) -> float:
    best = math.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        device.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def _attribute(number: int) -> int:
    value = ctypes.c_int()
    driver = ctypes.CDLL("libcuda.so.1")
    return value.value if driver.cuDeviceGetAttribute(ctypes.byref(value), number, 0) == 0 else 0
