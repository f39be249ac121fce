"""C++ in plain text, no framework headers: which commands compile it, and `cpp`, the verb candidates use."""

import shlex
from collections.abc import Sequence
from contextlib import suppress

from kernelwright.native import _headers
from kernelwright.native._errors import CompileError
from kernelwright.native._flags import check_flags
from kernelwright.native._language import OUTPUT, Language, one_file, register
from kernelwright.native._library import Library, load
from kernelwright.native._source import Source
from kernelwright.native._toolchain import cpu_identity, toolchain

# The two -fno flags change no value, only errno and exception bits that nobody reads, and let loops
# vectorise: measured on 65,536 floats with g++ 12, sqrtf 89 -> 12 us (math-errno), floorf + roundf
# 125 -> 6 us (trapping-math). -ffast-math changes values, so a candidate has to ask for it.
COMPILE = (
    "-O3",
    "-march=native",
    "-fopenmp",
    "-std=c++20",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fdiagnostics-color=never",
)
# An undefined symbol is an error now, with a line in the log, rather than at the first call.
LINK = ("-shared", "-fopenmp", "-Wl,-z,defs")


def cpp(text: str, flags: Sequence[str] | str = ()) -> Library:
    """Compile C++ and return its `extern "C"` functions as attributes.

    `flags` are added to the defaults (-O3 -march=native -fopenmp -std=c++20). Raises CompileError.
    """
    split = shlex.split(flags) if isinstance(flags, str) else flags
    return load(Source("cpp", text, tuple(split)), Library)


def _commands(source: Source) -> list[list[str]]:
    check_flags(source.flags)
    compiler = str(toolchain().path)
    flags = (*COMPILE, *source.flags)
    # Two steps, so that the author's flags never reach the linker: linking with -ffast-math adds start-up
    # code that flushes subnormals to zero in the whole process, PyTorch included.
    return [
        [compiler, *flags, *_headers.options(source.text, flags), "-c", "kernel.cpp", "-o", "kernel.o"],
        [compiler, *LINK, "kernel.o", "-o", OUTPUT],
    ]


def expect(source: Source) -> None:
    """Says that a text is about to be compiled: what many texts begin with is compiled once for all.

    Not for texts that come with macros: those may change what a header means.
    """
    if source.language == "cpp" and not any(flag.startswith("-D") for flag in source.flags):
        with suppress(CompileError):  # flags that are not allowed: told when it is compiled
            check_flags(source.flags)
            _headers.met(source.text, (*COMPILE, *source.flags))


def _identity(source: Source) -> str:
    return "\n".join((toolchain().version, *COMPILE, *LINK, cpu_identity()))


register(Language(name="cpp", identity=_identity, plans=one_file("kernel.cpp", _commands)))
