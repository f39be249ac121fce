"""The small library used inside candidates: compile plain source text, call it on tensors.

    lib = native.cpp(text)  # or native.cuda(text)
    lib.softmax(x, y, rows, cols)

    lib = native.sycl(text)
    lib.softmax[(global_size,), (local_size,)](x, y, rows, cols)

It knows compilers, a build cache and the C calling convention. It knows nothing of tasks, judging or search,
and imports no framework until a tensor is passed.
"""

from kernelwright.native._build_cache import BuildCache, build_key, cache_dir
from kernelwright.native._builder import set_builder
from kernelwright.native._compile import compile_source
from kernelwright.native._cpp import cpp, expect
from kernelwright.native._cuda import cuda, cuda_compilers, cuda_source
from kernelwright.native._cuda_library import CudaLibrary
from kernelwright.native._errors import CompileError, CudaError, NativeCallError, SyclError, ToolchainError
from kernelwright.native._extension import Extension
from kernelwright.native._gpu import Gpu, gpu
from kernelwright.native._headers import headers_dir
from kernelwright.native._language import language_of
from kernelwright.native._library import Library
from kernelwright.native._mute import mute
from kernelwright.native._nvcc import chosen_architecture, has_nvcc, nvcc, nvcc_fix, nvcc_settings, toolkit_folder
from kernelwright.native._nvrtc import Nvrtc, nvrtc
from kernelwright.native._signatures import Signature, signatures
from kernelwright.native._source import Source
from kernelwright.native._sycl import sycl
from kernelwright.native._sycl_library import SyclLibrary, program_of
from kernelwright.native._sycl_packages import SYCL_INSTALL, SyclPackages, sycl_packages, tools_dir
from kernelwright.native._toolchain import Toolchain, cpu_identity, install_command, toolchain
from kernelwright.native._torch_verbs import inline_source, take_over_extensions

__all__ = [
    "SYCL_INSTALL",
    "BuildCache",
    "CompileError",
    "CudaError",
    "CudaLibrary",
    "Extension",
    "Gpu",
    "Library",
    "NativeCallError",
    "Nvrtc",
    "Signature",
    "Source",
    "SyclError",
    "SyclLibrary",
    "SyclPackages",
    "Toolchain",
    "ToolchainError",
    "build_key",
    "cache_dir",
    "chosen_architecture",
    "compile_source",
    "cpp",
    "cpu_identity",
    "cuda",
    "cuda_compilers",
    "cuda_source",
    "expect",
    "gpu",
    "has_nvcc",
    "headers_dir",
    "inline_source",
    "install_command",
    "language_of",
    "mute",
    "nvcc",
    "nvcc_fix",
    "nvcc_settings",
    "nvrtc",
    "program_of",
    "set_builder",
    "signatures",
    "sycl",
    "sycl_packages",
    "take_over_extensions",
    "toolchain",
    "toolkit_folder",
    "tools_dir",
]
