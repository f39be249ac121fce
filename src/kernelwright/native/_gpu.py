"""Which NVIDIA GPU this machine has, asked of the driver's management library. Starts nothing on the device."""

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
LONGEST_NAME = 96


@dataclass(frozen=True)
class Gpu:
    """The first GPU: its name, its compute capability, (9, 0) for Hopper, and its memory."""

    name: str
    capability: tuple[int, int]
    memory_bytes: int = 0

    def runs(self, architecture: str) -> bool:
        """Whether code for it, `sm_80` or `sm_90a`, runs here: its own does, and that of older ones made for later."""
        number, own = int(architecture.strip("sm_af")), 10 * self.capability[0] + self.capability[1]
        return number == own or (number < own and architecture[-1].isdigit())


@functools.cache
def gpu() -> Gpu | None:
    """The first NVIDIA GPU, None where there is no driver or no device."""
    try:
        driver = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    if driver.nvmlInit_v2() != 0:
        return None
    try:
        return _first(driver)
    finally:
        driver.nvmlShutdown()


def _first(driver: Any) -> Gpu | None:
    device = ctypes.c_void_p()
    major, minor = ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(LONGEST_NAME)
    memory = (ctypes.c_ulonglong * 3)()  # all of it, what is free, what is used
    failed = (
        driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
        or driver.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
        or driver.nvmlDeviceGetName(device, name, LONGEST_NAME)
        or driver.nvmlDeviceGetMemoryInfo(device, memory)
    )
    return None if failed else Gpu(name.value.decode(errors="replace"), (major.value, minor.value), memory[0])
