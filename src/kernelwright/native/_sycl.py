"""SYCL in plain text: which command compiles it, and `sycl`, the verb candidates use.

The text is compiled for this machine's processor at once, so that nothing is left to compile where it runs.
"""

import ctypes
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright.native._build_cache import SEAL, SEAL_LENGTH
from kernelwright.native._builder import build
from kernelwright.native._errors import CompileError
from kernelwright.native._flags import check_flags
from kernelwright.native._language import OUTPUT, Language, register
from kernelwright.native._launch import Kernel, Launch, layout_of
from kernelwright.native._library import Library
from kernelwright.native._mute import is_muted
from kernelwright.native._signatures import Signature, signatures
from kernelwright.native._source import Source
from kernelwright.native._sycl_packages import sycl_packages, sycl_tools
from kernelwright.native._toolchain import cpu_identity

NOTHING_TO_LAUNCH = (
    'the text defines no kernel; write `extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(('
    "sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void name(const float* x, ...) { ... }` "
    "(kernels made by macros with parameters are not seen)"
)
PREFIX = "__sycl_kernel_"


def sycl(text: str, flags: Sequence[str] | str = ()) -> "SyclLibrary":
    """Compile SYCL and return its kernels as attributes: `lib.softmax[(global,), (local,)](x, y, rows, cols)`.

    A kernel is an `extern "C"` free function with the property `nd_range_kernel`. Raises CompileError.
    """
    split = shlex.split(flags) if isinstance(flags, str) else flags
    return load(Source("sycl", text, tuple(split)))


class SyclLibrary(Library):
    """The kernels of one compiled source, as attributes; see Kernel for how each is launched."""

    def __init__(self, source: Source, path: Path, functions: Mapping[str, Signature]) -> None:
        super().__init__(source, path, functions)
        self._program = None if is_muted() else _open(self._handle, path)

    def _bind(self, signature: Signature) -> Kernel:
        return Kernel(signature, _nothing if self._program is None else self._launcher(signature))

    def _launcher(self, signature: Signature) -> Launch:
        kernel, count = self._kernel(signature), len(signature.parameters)
        offsets, sizes = layout_of(signature)
        launch = self._handle.kernelwright_launch
        launch.restype = ctypes.c_char_p
        launch.argtypes = [ctypes.c_void_p, ctypes.c_uint32, *[ctypes.c_void_p] * 3, ctypes.c_uint32] + [
            ctypes.c_void_p
        ] * 2
        return lambda block, dimensions, whole, group: launch(
            kernel, count, ctypes.byref(block), offsets, sizes, dimensions, whole, group
        )

    def _kernel(self, signature: Signature) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        name, count = (PREFIX + signature.name).encode(), ctypes.c_uint32(len(signature.parameters))
        _succeed(self._handle.kernelwright_kernel, self._program, name, count, ctypes.byref(found))
        return found

    def __reduce__(self) -> tuple[Callable[[Source], Library], tuple[Source]]:
        return load, (self.__kernelwright_source__,)


def load(source: Source) -> SyclLibrary:
    """Build `source` and open the library, after making sure there is something in it to launch."""
    kernels = {name: found for name, found in signatures(source.text).items() if found.dimensions}
    if not kernels:
        raise CompileError(NOTHING_TO_LAUNCH)
    return SyclLibrary(source, build(source), kernels)


def program_of(library: bytes) -> bytes:
    """The driver's program in a library: between the launcher and its own size, in front of the cache's seal."""
    end = len(library) - (SEAL_LENGTH if library[-SEAL_LENGTH:].startswith(SEAL) else 0)
    size = int.from_bytes(library[end - 8 : end], "little")
    return library[end - 8 - size : end - 8]


def _open(handle: ctypes.CDLL, path: Path) -> ctypes.c_void_p:
    packages, program, opened = sycl_packages(), program_of(path.read_bytes()), ctypes.c_void_p()
    places = (str(packages.loader).encode(), str(packages.driver).encode())
    _succeed(handle.kernelwright_open, *places, program, ctypes.c_size_t(len(program)), ctypes.byref(opened))
    return opened


def _succeed(function: Any, *values: Any) -> None:
    function.restype = ctypes.c_char_p
    fault = function(*values)
    if fault:
        raise CompileError("the kernels compiled but do not load", fault.decode(errors="replace"))


def _nothing(*values: Any) -> None:
    """Stands in for a launch."""


def _commands(source: Source) -> list[list[str]]:
    check_flags(source.flags)
    packages, tools = sycl_packages(), sycl_tools()
    where = [f"LD_LIBRARY_PATH={packages.libraries}", f"OCL_ICD_FILENAMES={packages.driver}"]
    return [["env", *where, str(tools.compiler), str(tools.launcher), "kernel.cpp", OUTPUT, *source.flags]]


def _identity() -> str:
    """The tools' key stands for our host programs and for the packages; asking for it makes the tools."""
    return "\n".join((sycl_tools().key, cpu_identity()))


register(Language(name="sycl", file_name="kernel.cpp", identity=_identity, commands=_commands))
