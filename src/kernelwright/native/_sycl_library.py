"""A loaded SYCL library: kernels that run over ranges of work-items, on tensors in main memory.

Knows nothing of compiling. The library is a launcher, the same in all of them, with the driver's program behind it.
"""

import ctypes
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from kernelwright.native._build_cache import SEAL, SEAL_LENGTH
from kernelwright.native._call import MAIN_MEMORY, argument_type, converter, refuse, unsupported
from kernelwright.native._errors import CompileError, NativeCallError, SyclError
from kernelwright.native._library import Library
from kernelwright.native._signatures import Signature, signatures
from kernelwright.native._source import Source

NOTHING_TO_LAUNCH = (
    'the text defines no kernel; write `extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(('
    "sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void name(const float* x, ...) { ... }` "
    "(kernels made by macros with parameters are not seen)"
)
PREFIX = "__sycl_kernel_"
SIZE_BYTES = 8
# Runs a kernel: addresses of its arguments, dimensions, global and local sizes. Says why it failed, or nothing.
Launch = Callable[[Any, int, Any, Any], bytes | int | None]
Sizes = tuple[int, ...]


def program_of(library: bytes) -> bytes:
    """The driver's program in a library: between the launcher and its own size, in front of the cache's seal."""
    end = len(library) - (SEAL_LENGTH if library[-SEAL_LENGTH:].startswith(SEAL) else 0) - SIZE_BYTES
    size = int.from_bytes(library[end : end + SIZE_BYTES], "little")
    return library[end - size : end]


class SyclLibrary(Library):
    """The kernels of one compiled SYCL source, as attributes; see Kernel for how each is launched."""

    _nothing: ClassVar[str] = NOTHING_TO_LAUNCH

    def __init__(self, source: Source, path: Path, functions: Mapping[str, Signature]) -> None:
        super().__init__(source, path, functions)
        self._program = ctypes.c_void_p()
        program = program_of(path.read_bytes())
        _succeed(self._handle.kernelwright_open, program, ctypes.c_size_t(len(program)), ctypes.byref(self._program))

    @classmethod
    def _read(cls, text: str) -> dict[str, Signature]:
        return {name: found for name, found in signatures(text).items() if found.dimensions}

    def _find(self, name: str) -> Launch:
        count = len(self._functions[name].parameters)
        kernel = ctypes.c_void_p()
        place = ctypes.byref(kernel)
        _succeed(self._handle.kernelwright_kernel, self._program, (PREFIX + name).encode(), count, place)
        types = [argument_type(parameter) for parameter in self._functions[name].parameters]
        # Pointers are set in another way than scalars, whose size is needed.
        bytes_ = [0 if type_ is ctypes.c_void_p else ctypes.sizeof(type_) for type_ in types]
        sizes = (ctypes.c_size_t * count)(*bytes_)
        launch = self._handle.kernelwright_launch
        launch.restype = ctypes.c_char_p
        return lambda values, dimensions, whole, group: launch(kernel, count, sizes, values, dimensions, whole, group)

    def _bind(self, signature: Signature, foreign: Launch) -> Callable[..., Any]:
        fault = unsupported(signature)
        return refuse(fault) if fault else Kernel(signature, foreign)


def _succeed(function: Any, *values: Any) -> None:
    function.restype = ctypes.c_char_p
    fault = function(*values)
    if fault:
        raise CompileError("the kernels compiled but do not load", fault.decode(errors="replace"))


class Kernel:
    """A SYCL kernel, launched over a range of work-items: `lib.softmax[(global,), (local,)](x, y, rows, cols)`.

    Sizes are those of a SYCL `nd_range`, one number a dimension; for one dimension plain numbers do. A launch has
    ended when the call returns. Sizes and arguments that do not fit raise NativeCallError before anything runs.
    """

    def __init__(self, signature: Signature, launch: Launch) -> None:
        self._signature, self._launch = signature, launch
        self._types = [argument_type(parameter) for parameter in signature.parameters]
        self._convert = converter(signature, MAIN_MEMORY)
        self.__name__ = self.__qualname__ = signature.name
        self.__doc__ = str(signature)

    def __call__(self, *values: Any) -> None:
        raise self._explain(f"needs a range: {self.__name__}[(global,), (local,)](...), one number a dimension")

    def __getitem__(self, sizes: Any) -> Callable[..., None]:
        whole, group = self._range(sizes)
        return lambda *values: self._run(whole, group, values)

    def _run(self, whole: Sizes, group: Sizes, values: tuple[Any, ...]) -> None:
        cells = [cell(value) for cell, value in zip(self._types, self._convert(values), strict=True)]
        addresses = (ctypes.c_void_p * len(cells))(*map(ctypes.addressof, cells))
        fault = self._launch(addresses, len(whole), _sizes(whole), _sizes(group))
        if isinstance(fault, bytes):
            raise SyclError(f"{self.__name__} over {whole} in groups of {group}: {fault.decode(errors='replace')}")

    def _range(self, sizes: Any) -> tuple[Sizes, Sizes]:
        if not isinstance(sizes, tuple) or len(sizes) != 2:
            raise self._explain(f"takes two sizes, [(global,), (local,)], not {sizes!r}")
        whole, group = (self._numbers(size) for size in sizes)
        for items, one in zip(whole, group, strict=True):
            if items % one:
                room = math.ceil(items / one) * one
                raise self._explain(
                    f"cannot divide {items} work-items into groups of {one}; "
                    f"ask for {room} and let the kernel leave out the rest"
                )
        return whole, group

    def _numbers(self, size: Any) -> Sizes:
        numbers = size if isinstance(size, tuple) else (size,)
        if len(numbers) != self._signature.dimensions:
            raise self._explain(f"has {self._signature.dimensions} dimensions, {len(numbers)} given: {size!r}")
        if not all(type(number) is int and 0 < number < 2**63 for number in numbers):
            raise self._explain(f"takes positive ints as sizes, not {size!r}")
        return numbers

    def _explain(self, fault: str) -> NativeCallError:
        return NativeCallError(f"{self.__name__} {fault}")


def _sizes(numbers: Sizes) -> Any:
    """SYCL's last dimension runs fastest, the driver's first."""
    return (ctypes.c_size_t * len(numbers))(*reversed(numbers))
