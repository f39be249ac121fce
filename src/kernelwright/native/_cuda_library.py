"""A loaded CUDA library: calls that run on the caller's device and stream, and ask for errors after each launch.

Knows nothing of compiling. A library that nvcc made carries a CUDA runtime of its own, so the questions to that
runtime are asked through three small functions that stand behind the author's text. Kernels alone come as a cubin.
"""

import contextlib
import ctypes
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from kernelwright.native._call import Memory, argument_type, converter, declare, refuse, unsupported
from kernelwright.native._cubin import Cubin, is_cubin
from kernelwright.native._errors import CudaError, NativeCallError
from kernelwright.native._library import Library
from kernelwright.native._mute import is_muted
from kernelwright.native._signatures import Signature
from kernelwright.native._source import Source

NOTHING_TO_CALL = (
    "the text defines nothing that can be called; write a kernel, `__global__ void name(const float* x, ...) { ... }`, "
    'or a launcher of kernels, `extern "C" void name(const float* x, ..., cudaStream_t stream) { ... }` '
    "(functions made by macros with parameters are not seen)"
)
DEVICE_MEMORY = Memory("is_cuda", "CUDA kernels read device memory, call .cuda() first")
ENDING = r"""
#include <cuda_runtime.h>
extern "C" int kernelwright_last_error() { return cudaGetLastError(); }
extern "C" const char* kernelwright_error_text(int code) { return cudaGetErrorString((cudaError_t)code); }
extern "C" int kernelwright_launch(const void* kernel, const unsigned* grid, const unsigned* block, void** arguments,
                                   size_t shared_bytes, void* stream) {
    if (shared_bytes > 48 * 1024) {
        int code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
        if (code) return code;
    }
    return cudaLaunchKernel(kernel, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), arguments,
                            shared_bytes, (cudaStream_t)stream);
}
"""
Extent = int | tuple[int, ...]
MOST_THREADS = 1024  # in a block, on every GPU there is
_Three = ctypes.c_uint * 3


class CudaLibrary(Library):
    """The `extern "C"` launchers and kernels of one compiled CUDA source, as attributes.

    Pointers take CUDA tensors (or an address, or None). All tensors of a call lie on one device; the call is made
    there, on the caller's current stream. An error of the launch raises CudaError at once.
    """

    _nothing: ClassVar[str] = NOTHING_TO_CALL

    def __init__(self, source: Source, path: Path, functions: Mapping[str, Signature]) -> None:
        super().__init__(source, path, functions)
        self._runtime = self._handle if isinstance(self._handle, Cubin) else Runtime(self._handle)

    def _open(self, path: Path) -> Any:
        return Cubin(path) if is_cubin(path) else super()._open(path)

    def _bind(self, signature: Signature, foreign: Any) -> Callable[..., Any]:
        own = replace(signature, parameters=_without_stream(signature))
        fault = unsupported(own)
        if fault:
            return refuse(fault)
        return Kernel(own, foreign, self._runtime) if own.kernel else _launcher(signature, own, foreign, self._runtime)


class Runtime:
    """The CUDA runtime inside one library."""

    def __init__(self, handle: Any) -> None:
        self._last_error, self._text, self._launch = (
            handle[f"kernelwright_{name}"] for name in ("last_error", "error_text", "launch")
        )
        self._text.restype = ctypes.c_char_p
        self._launch.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_void_p]

    def launch(self, kernel: Any, grid: Any, block: Any, cells: list[Any], shared_bytes: int, stream: int) -> int:
        arguments = (ctypes.c_void_p * max(1, len(cells)))(*map(ctypes.addressof, cells))
        address = ctypes.cast(kernel, ctypes.c_void_p)
        return int(self._launch(address, grid, block, arguments, shared_bytes, stream))

    def check(self, name: str, code: int | None = None) -> None:
        """Raises CudaError if `code`, or else the last launch from this thread, was no success."""
        last = self._last_error()  # asked for in any case: asking also clears it
        found = code or last
        if found:
            text = self._text(found).decode(errors="replace")
            raise CudaError(f"launching {name} failed: {text} (CUDA error {found})")


def _without_stream(signature: Signature) -> tuple[Any, ...]:
    """The parameters the caller passes: all but a stream at the end, which is filled in."""
    last = signature.parameters[-1:]
    return signature.parameters[:-1] if last and last[0].type.kind == "stream" else signature.parameters


# *** launchers ***


def _launcher(signature: Signature, own: Signature, foreign: Any, runtime: Runtime | Cubin) -> Callable[..., Any]:
    """A function for a host function of the author's: it launches by itself, and is asked afterwards how it went."""
    takes_stream = len(own.parameters) < len(signature.parameters)
    returns_error = signature.returns.spelling == "cudaError_t"
    declare(own, foreign)
    if takes_stream:
        foreign.argtypes = [*foreign.argtypes, ctypes.c_void_p]
    convert = converter(own, DEVICE_MEMORY)

    def call(*values: Any) -> Any:
        arguments = convert(values)
        with _on_device(signature.name, values) as stream:
            result = foreign(*arguments, *([stream] if takes_stream else []))
        if not is_muted():
            runtime.check(signature.name, result if returns_error else None)
        return result

    call.__name__ = call.__qualname__ = signature.name
    call.__doc__ = str(signature)
    return call


@contextlib.contextmanager
def _on_device(name: str, values: tuple[Any, ...]) -> Iterator[int]:
    """Makes the tensors' device the current one and gives the caller's stream there; 0 if there is no device."""
    import torch

    devices = {value.device for value in values if getattr(value, "is_cuda", False)}
    if len(devices) > 1:
        listed = " and ".join(sorted(map(str, devices)))
        raise NativeCallError(f"{name}: got tensors on {listed}; a kernel runs on one device, move them to one")
    if not devices:
        yield torch.cuda.current_stream().cuda_stream if torch.cuda.is_available() else 0
        return
    device = devices.pop()
    with torch.cuda.device(device):
        yield torch.cuda.current_stream(device).cuda_stream


# *** kernels ***


class Kernel:
    """A `__global__` function. `kernel[grid, block](x, y, n)` launches it; a third number is shared bytes."""

    def __init__(self, signature: Signature, foreign: Any, runtime: Runtime | Cubin) -> None:
        self._signature, self._foreign, self._runtime = signature, foreign, runtime
        self._types = [argument_type(parameter) for parameter in signature.parameters]
        self._convert = converter(signature, DEVICE_MEMORY)
        self.__name__ = self.__qualname__ = signature.name
        self.__doc__ = str(signature)

    def __call__(self, *values: Any) -> Any:
        name = self.__name__
        raise NativeCallError(f"{name} is a device kernel: say how many threads run it, lib.{name}[grid, block](...)")

    def __getitem__(self, shape: tuple[Any, ...]) -> Callable[..., None]:
        if not isinstance(shape, tuple) or len(shape) not in (2, 3):
            raise NativeCallError(f"{self.__name__}[...] takes grid, block and, if wanted, shared bytes")
        grid, block = self._extent("grid", shape[0]), self._extent("block", shape[1])
        shared_bytes = shape[2] if len(shape) == 3 else 0
        if type(shared_bytes) is not int or shared_bytes < 0:
            raise NativeCallError(f"{self.__name__}: shared bytes are {shared_bytes!r}, not an int from 0")

        def launch(*values: Any) -> None:
            self._launch(grid, block, shared_bytes, values)

        return launch

    def _extent(self, what: str, extent: Extent) -> Any:
        sizes = extent if isinstance(extent, tuple) else (extent,)
        if not 1 <= len(sizes) <= 3 or not all(type(size) is int and 0 < size < 2**32 for size in sizes):
            raise NativeCallError(f"{self.__name__}: {what} is {extent!r}, not one to three positive ints")
        if what == "block" and math.prod(sizes) > MOST_THREADS:
            threads = math.prod(sizes)
            raise NativeCallError(f"{self.__name__}: block {extent!r} has {threads} threads, more than {MOST_THREADS}")
        return _Three(*sizes, *(1,) * (3 - len(sizes)))

    def _launch(self, grid: Any, block: Any, shared_bytes: int, values: tuple[Any, ...]) -> None:
        arguments = self._convert(values)
        if is_muted():
            return
        cells = [cell(argument) for cell, argument in zip(self._types, arguments, strict=True)]
        with _on_device(self.__name__, values) as stream:
            code = self._runtime.launch(self._foreign, grid, block, cells, shared_bytes, stream)
        try:
            self._runtime.check(self.__name__, code)
        except CudaError as error:
            shape = f"grid {tuple(grid)}, block {tuple(block)}, {shared_bytes} bytes of shared memory"
            raise CudaError(f"{error}: {shape}") from None
