"""Kernels in device code of no library: loaded and launched by the driver itself, where torch has made its context."""

import ctypes
import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright.native._build_cache import SEAL, SEAL_LENGTH
from kernelwright.native._errors import CudaError

DRIVER = "libcuda.so.1"
ELF, MACHINE = b"\x7fELF", slice(18, 20)
CUDA_MACHINE = (190).to_bytes(2, "little")
# A section of code is named after its kernel.
_SECTION = re.compile(rb"\0\.text\.(\w+)(?=\0)")
MOST_SHARED_UNASKED = 48 << 10
SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
NO_DRIVER, NO_CONTEXT = 35, 201


def is_cubin(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(MACHINE.stop)
    return start.startswith(ELF) and start[MACHINE] == CUDA_MACHINE


class Cubin:
    """Device code of one text. It comes to a device when a kernel is first launched there, not before."""

    def __init__(self, path: Path) -> None:
        code = path.read_bytes()
        self._code = code[:-SEAL_LENGTH] if code[-SEAL_LENGTH:].startswith(SEAL) else code
        self._names = {name.decode() for name in _SECTION.findall(self._code)}
        self._kernels: dict[str, Any] = {}
        self._library: Any = None

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise AttributeError(name)
        return name

    def launch(self, kernel: str, grid: Any, block: Any, cells: list[Any], shared_bytes: int, stream: int) -> int:
        driver = _driver()
        if driver is None:
            return NO_DRIVER
        arguments = (ctypes.c_void_p * max(1, len(cells)))(*map(ctypes.addressof, cells))

        def begin() -> int:
            code, function = self._function(driver, kernel, shared_bytes)
            shape = (*grid, *block, shared_bytes, ctypes.c_void_p(stream))
            return code or int(driver.cuLaunchKernel(function, *shape, arguments, None))

        return _in_context(driver, begin)

    def check(self, name: str, code: int | None = None) -> None:
        """Raises CudaError if `code` is no success."""
        if code:
            raise CudaError(f"launching {name} failed: {_text(code)} (CUDA error {code})")

    def _function(self, driver: Any, name: str, shared_bytes: int) -> tuple[int, Any]:
        """The kernel, ready for the device that is current and for that much shared memory."""
        if name not in self._kernels:
            code = self._find(driver, name)
            if code:
                return code, None
        kernel = self._kernels[name]
        if shared_bytes <= MOST_SHARED_UNASKED:
            return 0, kernel
        function = ctypes.c_void_p()
        code = driver.cuKernelGetFunction(ctypes.byref(function), kernel)
        return code or driver.cuFuncSetAttribute(function, SHARED_BYTES, shared_bytes), function

    def _find(self, driver: Any, name: str) -> int:
        if self._library is None:
            library = ctypes.c_void_p()
            options = (None, None, 0, None, None, 0)
            code = int(driver.cuLibraryLoadData(ctypes.byref(library), self._code, *options))
            if code:
                return code
            self._library = library
        kernel = ctypes.c_void_p()
        code = int(driver.cuLibraryGetKernel(ctypes.byref(kernel), self._library, name.encode()))
        if not code:
            self._kernels[name] = kernel
        return code


@functools.cache
def _driver() -> Any:
    """The driver, None where there is none or one older than CUDA 12."""
    try:
        found = ctypes.CDLL(DRIVER)
        return found if found.cuLibraryLoadData else None
    except (OSError, AttributeError):
        return None


def _in_context(driver: Any, begin: Callable[[], int]) -> int:
    """Begins; in a thread that has done nothing on the device yet, with the context that the others have."""
    code = begin()
    if code != NO_CONTEXT:
        return code
    import torch

    device, context = ctypes.c_int(), ctypes.c_void_p()
    return int(
        driver.cuDeviceGet(ctypes.byref(device), torch.cuda.current_device())
        or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or driver.cuCtxSetCurrent(context)
        or begin()
    )


def _text(code: int) -> str:
    driver, text = _driver(), ctypes.c_char_p()
    if driver is None:
        return f"there is no CUDA driver of release 12 or later here ({DRIVER})"
    driver.cuGetErrorString(code, ctypes.byref(text))
    return (text.value or b"an error without a name").decode(errors="replace")
