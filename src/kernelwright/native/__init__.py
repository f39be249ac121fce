"""The small library used inside candidates: compile plain source text, call it on tensors.

    lib = native.cpp(text)
    lib.softmax(x, y, rows, cols)

    lib = native.sycl(text)
    lib.softmax[(global_size,), (local_size,)](x, y, rows, cols)

It knows compilers, a build cache and the C calling convention. It knows nothing of tasks, judging or search,
and imports no framework until a tensor is passed.
"""

from kernelwright.native._build_cache import BuildCache, build_key, cache_dir
from kernelwright.native._builder import set_builder
from kernelwright.native._compile import compile_source
from kernelwright.native._cpp import cpp
from kernelwright.native._errors import CompileError, LaunchError, NativeCallError, ToolchainError
from kernelwright.native._library import Library
from kernelwright.native._mute import mute
from kernelwright.native._source import Source
from kernelwright.native._sycl import SyclLibrary, program_of, sycl
from kernelwright.native._sycl_packages import (
    FOLDERS,
    SYCL_INSTALL,
    SYCL_VARIABLE,
    SyclPackages,
    folders,
    sycl_packages,
)
from kernelwright.native._toolchain import Toolchain, cpu_identity, install_command, toolchain

__all__ = [
    "FOLDERS",
    "SYCL_INSTALL",
    "SYCL_VARIABLE",
    "BuildCache",
    "CompileError",
    "LaunchError",
    "Library",
    "NativeCallError",
    "Source",
    "SyclLibrary",
    "SyclPackages",
    "Toolchain",
    "ToolchainError",
    "build_key",
    "cache_dir",
    "compile_source",
    "cpp",
    "cpu_identity",
    "folders",
    "install_command",
    "mute",
    "program_of",
    "set_builder",
    "sycl",
    "sycl_packages",
    "toolchain",
]
