"""Which flags a candidate may pass with a torch extension: those published solutions use, none that names a program."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from kernelwright.native._errors import CompileError
from kernelwright.native._flags import check_flags

_HOST_TOO = re.compile(r"-(?:g|w|pthread|fopenmp)|-U[A-Za-z_]\w*|-I/usr/[\w/+-]*")
# Options of nvcc that are also written with their value as the next word.
_WITH_VALUE = {
    "-Xcompiler": "-Xcompiler",
    "--compiler-options": "-Xcompiler",
    "-Xptxas": "-Xptxas",
    "--ptxas-options": "-Xptxas",
    "-gencode": "-gencode",
    "--generate-code": "-gencode",
    "-arch": "-arch",
    "--gpu-architecture": "-arch",
    "-std": "-std",
    "--std": "-std",
    "-maxrregcount": "-maxrregcount",
    "--maxrregcount": "-maxrregcount",
    "-diag-suppress": "-diag-suppress",
    "--diag-suppress": "-diag-suppress",
    "-t": "-t",
    "--threads": "-t",
    "-I": "-I",
}
_NVCC = re.compile(
    r"""
      -O[0-3]
    | -D[A-Za-z_]\w*(?:=[\w.+-]*)?
    | -U[A-Za-z_]\w*
    | -I/usr/[\w/+-]*
    | -std=c\+\+\d\d
    | --?use_fast_math
    | --?(?:ftz|prec-div|prec-sqrt|fmad)=(?:true|false)
    | -maxrregcount=\d{1,3}
    | -(?:w|g|G|lineinfo|extended-lambda|extra-device-vectorization|res-usage)
    | --(?:expt-relaxed-constexpr|expt-extended-lambda|extended-lambda|extra-device-vectorization|generate-line-info
         | resource-usage|restrict|disable-warnings)
    | -(?:expt-relaxed-constexpr|expt-extended-lambda|restrict)
    | -diag-suppress=[\d,]+
    | -t=\d{1,2}
    | -arch=(?:sm|compute)_\d+[af]?
    | -gencode=arch=compute_\d+[af]?,code=[\[\]\w,"]+
    """,
    re.VERBOSE,
)
_PTXAS = re.compile(r"-O[0-3]|-v|--?verbose|-d[ls]cm=c[agsv]|--?warn-[a-z-]+|--?allow-expensive-optimizations=\w+")
_ARCHITECTURE = re.compile(r"-(?:arch|gencode)=")
_KNOWN_LIBRARIES = (
    "c10 c10_cuda torch torch_cpu torch_cuda torch_python cuda cudart cublas cublasLt cudnn cufft curand cusolver "
    "cusparse nvrtc gomp m pthread dl rt stdc++"
).split()
_LINK = re.compile(r"-L/(?:usr|opt)/[\w/+-]*|-O[0-3]|-fopenmp|-pthread|-shared|-s|-Wl,--(?:no-)?as-needed")


def words(flags: Sequence[str]) -> tuple[str, ...]:
    """Flags as a shell would split them: an element may hold several, or none."""
    try:
        return tuple(word for flag in flags for word in shlex.split(flag))
    except ValueError as error:
        raise CompileError(f"compiler flags {list(flags)!r} are not well-formed: {error}") from None


def host_flags(flags: Sequence[str]) -> list[str]:
    """Flags for the C++ compiler; raises CompileError on the first that is not allowed."""
    found = words(flags)
    check_flags(tuple(flag for flag in found if not _HOST_TOO.fullmatch(flag)))
    return list(found)


def nvcc_flags(flags: Sequence[str]) -> list[str]:
    """Flags for nvcc, each in one word; raises CompileError on the first that is not allowed."""
    found = list(_joined(words(flags)))
    for flag in found:
        option, _, value = flag.partition("=")
        if option == "-Xcompiler":
            host_flags(value.split(","))
        elif not (_all_match(_PTXAS, value.split(",")) if option == "-Xptxas" else _NVCC.fullmatch(flag)):
            raise CompileError(
                f"nvcc flag {flag!r} is not allowed; use flags that shape the code and name no file and no program"
            )
    return found


def names_architecture(flags: Iterable[str]) -> bool:
    return any(map(_ARCHITECTURE.match, flags))


def link_flags(flags: Sequence[str]) -> list[str]:
    """Flags for the linker; raises CompileError on the first that is not allowed. The runtime is linked in any case."""
    found = [flag for flag in words(flags) if flag != "-lcudart"]
    for flag in found:
        if not (flag[:2] == "-l" and flag[2:] in _KNOWN_LIBRARIES) and not _LINK.fullmatch(flag):
            raise CompileError(
                f"linker flag {flag!r} is not allowed; libraries that may be named: {', '.join(_KNOWN_LIBRARIES)}"
            )
    return found


def _joined(found: Sequence[str]) -> Iterator[str]:
    rest = iter(found)
    for word in rest:
        option, equals, value = word.partition("=")
        if option not in _WITH_VALUE:
            yield word
        else:
            yield f"{_WITH_VALUE[option]}={value if equals else next(rest, '')}".replace("-I=", "-I")


def _all_match(pattern: re.Pattern[str], values: Iterable[str]) -> bool:
    return all(map(pattern.fullmatch, values))
