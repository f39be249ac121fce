"""How the device is while it measures: clocks, temperature, power, and why it runs slower than it could."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
SM, MEMORY = 1, 2
REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "thermal (software)",
    0x40: "thermal (hardware)",
    0x80: "power brake",
}


@functools.cache
def _driver() -> tuple[Any, Any] | None:
    try:
        driver = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    device = ctypes.c_void_p()
    if driver.nvmlInit_v2() or driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)):
        return None
    return driver, device


def look() -> dict[str, Any]:
    """What the management library says now; empty where there is none."""
    found = _driver()
    if found is None:
        return {}
    driver, device = found

    def number(function: str, *arguments: int) -> int | None:
        value = ctypes.c_ulonglong()
        return int(value.value) if driver[function](device, *arguments, ctypes.byref(value)) == 0 else None

    reasons = number("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
    return {
        "sm_mhz": number("nvmlDeviceGetClockInfo", SM),
        "memory_mhz": number("nvmlDeviceGetClockInfo", MEMORY),
        "celsius": number("nvmlDeviceGetTemperature", 0),
        "milliwatts": number("nvmlDeviceGetPowerUsage"),
        "slowed_by": [name for bit, name in REASONS.items() if reasons & bit],
    }
