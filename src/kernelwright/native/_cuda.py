"""CUDA in plain text, no framework headers: what compiles it, and `cuda`, the verb candidates use.

NVRTC compiles a text that is nothing but kernels, and the kernels of one that launches them in plain ways; nvcc does
whatever is left.
"""

import os
import re
import shlex
from collections.abc import Sequence

from kernelwright.native._cuda_library import ENDING, CudaLibrary
from kernelwright.native._cuda_split import LAUNCHING, Tools, split
from kernelwright.native._cuda_text import exporting, is_kernels_only
from kernelwright.native._errors import CompileError, ToolchainError
from kernelwright.native._gpu import gpu
from kernelwright.native._language import OUTPUT, Language, one_file, register
from kernelwright.native._library import load
from kernelwright.native._nvcc import (
    ARCHITECTURE_VARIABLE,
    chosen_architecture,
    exporting_kernels,
    has_nvcc,
    known_architectures,
    nvcc,
    toolkit_folder,
)
from kernelwright.native._nvrtc import Nvrtc, nvrtc
from kernelwright.native._source import Source
from kernelwright.native._toolchain import toolchain

# The runtime is linked in, so that a library finds its device without any path being set.
COMPILE = ("-O3", "-std=c++17", "-shared", "-cudart", "static", "-Xcompiler", "-fPIC")
# A kernel's address must be that of this library, whatever else of its name is loaded; nothing may stay undefined.
LINK = ("-Xlinker", "-Bsymbolic", "-Xlinker", "-z", "-Xlinker", "defs")
_NAME = re.compile(r"sm_\d+[af]?")
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
    current stream is passed there. A `__global__` function is launched: `lib.relu_kernel[grid, block](x, y, n)`; in a
    text without launchers it need not be `extern "C"`. `flags` are added to the defaults (-O3 -std=c++17, -arch of the
    GPU in this machine). Raises CompileError.
    """
    return load(cuda_source(text, flags), CudaLibrary)


def cuda_source(text: str, flags: Sequence[str] | str = ()) -> Source:
    """What is compiled where `cuda` is called with these."""
    split = shlex.split(flags) if isinstance(flags, str) else flags
    return Source("cuda", exporting(text), tuple(split))


def cuda_compilers() -> str:
    """What is there to compile with; raises ToolchainError if it is nothing."""
    small = nvrtc()
    if small and not has_nvcc():
        return f"{small.version}, for kernels without launchers alone: no nvcc found"
    found = nvcc()
    return f"{found.version} at {found.path}" + (f"; {small.version} for kernels alone" if small else "")


def _commands(source: Source) -> list[list[str]]:
    architecture, others = _settled(source.flags)
    flags = (*COMPILE, *LINK, *exporting_kernels(), f"-arch={architecture}", *others)
    return [[str(nvcc().path), *flags, "kernel.cu", "-o", OUTPUT]]


def _identity(source: Source) -> str:
    """Raises where the text cannot be compiled here at all: this is asked where the GPU can be seen."""
    quick, (architecture, _) = _nvrtc_for(source), _settled(source.flags)
    if not (quick and is_kernels_only(source.text)):
        nvcc()  # or says what is missing
    others = (nvcc().version, *COMPILE, *LINK, *exporting_kernels()) if has_nvcc() else ()
    return "\n".join((quick.version if quick else "", *others, LAUNCHING, architecture, ENDING))


def _shortcut(source: Source) -> bytes | None:
    """By NVRTC, as far as it can. If it complains and there is an nvcc, that one has the last word."""
    quick, (architecture, others) = _nvrtc_for(source), _settled(source.flags)
    if quick is None:
        return None
    try:
        if is_kernels_only(source.text):
            return quick.compile(source.text, architecture, others)
        return _launchers(source, quick, architecture, others)
    except CompileError:
        if has_nvcc():
            return None
        raise


def _launchers(source: Source, quick: Nvrtc, architecture: str, flags: Sequence[str]) -> bytes | None:
    """Kernels by NVRTC and their launchers by the C++ compiler, at the same time."""
    parts, toolkit = split(source.text), toolkit_folder()
    if parts is None or toolkit is None:
        return None
    return Tools(quick, toolchain().path, toolkit).compile(parts, architecture, flags, ENDING)


def _nvrtc_for(source: Source) -> Nvrtc | None:
    """NVRTC, if it is here and makes what nvcc would with these flags."""
    found, (architecture, others) = nvrtc(), _split(source.flags)
    wanted, here = architecture.rstrip("af"), chosen_architecture().rstrip("af")
    # It makes no code that a later GPU could still translate, so it has to be that of the GPU here.
    suits = found and found.takes(others) and wanted == here and wanted in found.architectures()
    return found if suits else None


# *** flags ***


def _split(flags: tuple[str, ...]) -> tuple[str, list[str]]:
    """The architecture to compile for, and the other flags."""
    named = [found[1] for found in map(_ARCHITECTURE.fullmatch, flags) if found]
    others = [flag for flag in flags if not _ARCHITECTURE.fullmatch(flag)]
    return (named or [chosen_architecture()])[-1], others


def _settled(flags: tuple[str, ...]) -> tuple[str, list[str]]:
    """The same, after making sure that a candidate may pass these flags and that something comes of them."""
    for flag in flags:
        if not _ALLOWED.fullmatch(flag):
            raise CompileError(
                f"nvcc flag {flag!r} is not allowed; use -arch=sm_NN, -O, -D, -std=, -maxrregcount=, -use_fast_math, "
                "-ftz=, -prec-div=, -prec-sqrt=, -fmad=, -lineinfo or --extended-lambda"
            )
    architecture, others = _split(flags)
    if architecture == chosen_architecture():
        _check_chosen(architecture)
    else:
        _check_named(architecture)
    return architecture, others


def _check_chosen(architecture: str) -> None:
    """Nobody's text is to blame for the architecture of this machine."""
    fault = _unknown(architecture)
    if fault:
        where = f"{ARCHITECTURE_VARIABLE} is {architecture!r}: " if os.environ.get(ARCHITECTURE_VARIABLE) else ""
        raise ToolchainError(where + fault)


def _check_named(architecture: str) -> None:
    fault = _unknown(architecture)
    if fault:
        raise CompileError(fault)
    here = gpu()
    if here and not here.runs(architecture):
        own = "sm_{}{}".format(*here.capability)
        raise CompileError(
            f"code for {architecture} does not run on the {here.name} in this machine, which is {own}; leave -arch out"
        )


def _unknown(architecture: str) -> str:
    """What is wrong with the name of an architecture; empty if it is one that can be compiled for."""
    quick = nvrtc()
    number = architecture.rstrip("af") if _NAME.fullmatch(architecture) else ""
    if quick and number in quick.architectures():
        return ""
    if quick and not has_nvcc():
        compiler, known = "NVRTC", quick.architectures()
    else:
        compiler, known = "nvcc", known_architectures()  # raises where there is none
    return "" if number in known else f"{compiler} cannot compile for {architecture!r}; it knows {', '.join(known)}"


register(
    Language(
        name="cuda",
        identity=_identity,
        plans=one_file("kernel.cu", _commands, ENDING),
        shortcut=_shortcut,
    )
)
