"""The small library used inside candidates: compile plain source text, call it on tensors.

    lib = native.cpp(text)  # or native.cuda(text)
    lib.softmax(x, y, rows, cols)

It knows compilers, a build cache and the C calling convention. It knows nothing of tasks, judging or search,
and imports no framework until a tensor is passed.
"""

from kernelwright.native._build_cache import BuildCache, build_key, cache_dir
from kernelwright.native._builder import set_builder
from kernelwright.native._compile import compile_source
from kernelwright.native._cpp import cpp
from kernelwright.native._cuda import cuda
from kernelwright.native._cuda_library import CudaLibrary
from kernelwright.native._errors import CompileError, CudaError, NativeCallError, ToolchainError
from kernelwright.native._gpu import Gpu, gpu
from kernelwright.native._library import Library
from kernelwright.native._mute import mute
from kernelwright.native._nvcc import architecture, chosen_architecture, nvcc, nvcc_fix, nvcc_settings, toolkit_folder
from kernelwright.native._source import Source
from kernelwright.native._toolchain import Toolchain, cpu_identity, install_command, toolchain

__all__ = [
    "BuildCache",
    "CompileError",
    "CudaError",
    "CudaLibrary",
    "Gpu",
    "Library",
    "NativeCallError",
    "Source",
    "Toolchain",
    "ToolchainError",
    "architecture",
    "build_key",
    "cache_dir",
    "chosen_architecture",
    "compile_source",
    "cpp",
    "cpu_identity",
    "cuda",
    "gpu",
    "install_command",
    "mute",
    "nvcc",
    "nvcc_fix",
    "nvcc_settings",
    "set_builder",
    "toolchain",
    "toolkit_folder",
]
