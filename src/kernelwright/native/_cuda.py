"""CUDA in plain text, no framework headers: which commands compile it, and `cuda`, the verb candidates use."""

import re
import shlex
from collections.abc import Sequence

from kernelwright.native._cuda_library import ENDING, CudaLibrary
from kernelwright.native._errors import CompileError
from kernelwright.native._language import OUTPUT, Language, one_file, register
from kernelwright.native._library import load
from kernelwright.native._nvcc import architecture, check_architecture, exporting_kernels, nvcc
from kernelwright.native._source import Source

# The runtime is linked in, so that a library finds its device without any path being set.
COMPILE = ("-O3", "-std=c++17", "-shared", "-cudart", "static", "-Xcompiler", "-fPIC")
# A kernel's address must be that of this library, whatever else of its name is loaded; nothing may stay undefined.
LINK = ("-Xlinker", "-Bsymbolic", "-Xlinker", "-z", "-Xlinker", "defs")
_ARCHITECTURE = re.compile(r"-arch=(.+)", re.DOTALL)
_ALLOWED = re.compile(
    r"""
      -O[0-3]
    | -D[A-Za-z_]\w*(?:=[\w.+-]*)?
    | -std=c\+\+\d\d
    | --?use_fast_math
    | -(?:ftz|prec-div|prec-sqrt|fmad)=(?:true|false)
    | -maxrregcount=\d{1,3}
    | -(?:lineinfo|extra-device-vectorization|extended-lambda)
    | --(?:expt-relaxed-constexpr|expt-extended-lambda|extended-lambda|extra-device-vectorization)
    | -arch=\S+
    """,
    re.VERBOSE,
)


def cuda(text: str, flags: Sequence[str] | str = ()) -> CudaLibrary:
    """Compile CUDA and return its `extern "C"` launchers and kernels as attributes.

    A launcher is a host function: `lib.relu(x, y, n)`; if its last parameter is a `cudaStream_t`, the caller's
    current stream is passed there. A `__global__` function is launched: `lib.relu_kernel[grid, block](x, y, n)`.
    `flags` are added to the defaults (-O3 -std=c++17, -arch of the GPU in this machine). Raises CompileError.
    """
    split = shlex.split(flags) if isinstance(flags, str) else flags
    return load(Source("cuda", text, tuple(split)), CudaLibrary)


def _commands(source: Source) -> list[list[str]]:
    _check_flags(source.flags)
    chosen = [] if any(map(_ARCHITECTURE.match, source.flags)) else [f"-arch={architecture()}"]
    flags = (*COMPILE, *LINK, *exporting_kernels(), *chosen, *source.flags)
    return [[str(nvcc().path), *flags, "kernel.cu", "-o", OUTPUT]]


def _check_flags(flags: tuple[str, ...]) -> None:
    """Raise CompileError on the first flag a candidate may not pass, or that names no architecture nvcc knows."""
    for flag in flags:
        if not _ALLOWED.fullmatch(flag):
            raise CompileError(
                f"nvcc flag {flag!r} is not allowed; use -arch=sm_NN, -O, -D, -std=, -maxrregcount=, -use_fast_math, "
                "-ftz=, -prec-div=, -prec-sqrt=, -fmad=, -lineinfo or --extended-lambda"
            )
        named = _ARCHITECTURE.fullmatch(flag)
        if named:
            check_architecture(named[1])


def _identity() -> str:
    return "\n".join((nvcc().version, *COMPILE, *LINK, *exporting_kernels(), architecture(), ENDING))


register(Language(name="cuda", identity=_identity, plans=one_file("kernel.cu", _commands, ENDING)))
