"""NVRTC, the CUDA compiler in a library: device code in memory, in a tenth of a second, with no host compiler.

It is found in the packages beside torch, or in the toolkit's folder. It knows no standard header: those that kernels
include by habit are given to it here, as far as kernels need them.
"""

import ctypes
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.native._errors import CompileError, from_log
from kernelwright.native._nvcc import toolkit_folder

# In packages of CUDA 13 and of CUDA 12, from a folder of packages on.
PACKAGES = ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib")
LIBRARY, BUILTINS = "libnvrtc.so.*", "libnvrtc-builtins.so.*"
FILE_NAME = "kernel.cu"
PRELUDE = "kernelwright.h"
# What nvcc knows unasked; then what it knows once the header is included.
HEADERS = {
    PRELUDE: r"""
#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#define NAN (__builtin_bit_cast(float, 0x7fffffff))
#define HUGE_VALF INFINITY
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
""",
    "stdint.h": r"""
#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
""",
    "float.h": r"""
#pragma once
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_DIG 6
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
""",
    "cstdint": '#include "stdint.h"',
    "cfloat": '#include "float.h"',
    **dict.fromkeys(("math.h", "cmath", "limits.h", "climits", "stddef.h", "cstddef", "stdio.h", "cstdio"), ""),
    **dict.fromkeys(("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"), ""),
}
# Flags of nvcc that mean the same here; the optimisation is nvcc's -O3 in any case.
_SAME = re.compile(
    r"-O3|-D.+|-std=.+|--?use_fast_math|-(?:ftz|prec-div|prec-sqrt|fmad|maxrregcount)=.+|-lineinfo"
    r"|--?extra-device-vectorization"
)


@dataclass(frozen=True)
class Nvrtc:
    """One NVRTC on this machine."""

    path: Path

    @property
    def version(self) -> str:
        major, minor = ctypes.c_int(), ctypes.c_int()
        _loaded(self.path).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"NVRTC {major.value}.{minor.value} at {self.path}"

    def architectures(self) -> tuple[str, ...]:
        """Those it compiles for: sm_90 among them, if it is of this decade."""
        library, count = _loaded(self.path), ctypes.c_int()
        library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        library.nvrtcGetSupportedArchs(numbers)
        return tuple(f"sm_{number}" for number in numbers)

    def takes(self, flags: Sequence[str]) -> bool:
        """Whether these flags, without those that name an architecture, mean here what they mean to nvcc."""
        return all(map(_SAME.fullmatch, flags))

    def compile(self, text: str, architecture: str, flags: Sequence[str]) -> bytes:
        """Machine code for one architecture; raises CompileError with the compiler's whole output."""
        includes = [f"-I{folder}" for folder in _include_folders(self.path)]
        own = [f"--gpu-architecture={architecture}", f"--pre-include={PRELUDE}"]
        own += [] if any(flag.startswith("-std=") for flag in flags) else ["-std=c++17"]
        given = [flag for flag in flags if flag != "-O3"]
        with _Program(_loaded(self.path), text) as program:
            return program.compile([*own, *includes, *given])


def nvrtc() -> Nvrtc | None:
    """The one to use: that of torch's packages, else the toolkit's; None if there is neither."""
    return _in_packages(tuple(sys.path)) or _in_toolkit(toolkit_folder())


@functools.cache
def _in_packages(paths: tuple[str, ...]) -> Nvrtc | None:
    return _in_folders(folder for path in paths for place in PACKAGES for folder in sorted(Path(path).glob(place)))


@functools.cache
def _in_toolkit(toolkit: Path | None) -> Nvrtc | None:
    return _in_folders([toolkit / "lib64"] if toolkit else [])


def _in_folders(folders: Iterable[Path]) -> Nvrtc | None:
    found = (library for folder in folders for library in sorted(folder.glob(LIBRARY)))
    return next((Nvrtc(library) for library in found if _opens(library)), None)


def _opens(library: Path) -> bool:
    try:
        return bool(_loaded(library))
    except OSError:
        return False


@functools.cache
def _loaded(path: Path) -> Any:
    """It looks for a second library beside it, and finds it only where that is already loaded."""
    for builtins in path.parent.glob(BUILTINS):
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(path))


@functools.cache
def _include_folders(library: Path) -> tuple[Path, ...]:
    """Headers of the same release, if they are there: half precision, tensor cores, cooperative groups."""
    return tuple(folder for folder in _likely_folders(library) if folder.is_dir())


def _likely_folders(library: Path) -> Iterator[Path]:
    beside = (library.parents[1], library.parents[2] / "cuda_runtime")
    top = next(filter(_has_headers, beside), None) or toolkit_folder()
    if top:
        yield top / "include"
        yield top / "include" / "cccl"


def _has_headers(folder: Path) -> bool:
    return (folder / "include" / "cuda_fp16.h").exists()


class _Program:
    """A text on its way through the compiler."""

    def __init__(self, library: Any, text: str) -> None:
        self._library, self._handle = library, ctypes.c_void_p()
        names, contents = _strings(HEADERS), _strings(HEADERS.values())
        code = text.encode(errors="replace")
        place = ctypes.byref(self._handle)
        if b"\0" in code or library.nvrtcCreateProgram(place, code, FILE_NAME.encode(), len(HEADERS), contents, names):
            raise CompileError("the text cannot be compiled: it is no C string")

    def __enter__(self) -> "_Program":
        return self

    def __exit__(self, *_: object) -> None:
        self._library.nvrtcDestroyProgram(ctypes.byref(self._handle))

    def compile(self, options: Sequence[str]) -> bytes:
        if self._library.nvrtcCompileProgram(self._handle, len(options), _strings(options)):
            raise from_log(self._read("ProgramLog").decode(errors="replace").rstrip("\0"))
        return self._read("CUBIN")

    def _read(self, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._library, f"nvrtcGet{what}Size")(self._handle, ctypes.byref(size))
        content = ctypes.create_string_buffer(size.value)
        getattr(self._library, f"nvrtcGet{what}")(self._handle, content)
        return content.raw


def _strings(texts: Any) -> Any:
    listed = [text.encode() for text in texts]
    return (ctypes.c_char_p * len(listed))(*listed)
