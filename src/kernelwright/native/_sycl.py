"""SYCL in plain text: which command compiles it, and `sycl`, the verb candidates use.

The text is compiled for this machine's processor at once, so that nothing is left to compile where it runs.
"""

import shlex
from collections.abc import Sequence

from kernelwright.native._flags import check_flags
from kernelwright.native._language import OUTPUT, Language, one_file, register
from kernelwright.native._library import load
from kernelwright.native._source import Source
from kernelwright.native._sycl_library import SyclLibrary
from kernelwright.native._sycl_packages import sycl_tools
from kernelwright.native._toolchain import cpu_identity


def sycl(text: str, flags: Sequence[str] | str = ()) -> SyclLibrary:
    """Compile SYCL and return its kernels as attributes: `lib.softmax[(global,), (local,)](x, y, rows, cols)`.

    A kernel is an `extern "C"` free function with the property `nd_range_kernel`. Raises CompileError.
    """
    split = shlex.split(flags) if isinstance(flags, str) else flags
    return load(Source("sycl", text, tuple(split)), SyclLibrary)


def _commands(source: Source) -> list[list[str]]:
    check_flags(source.flags)
    tools = sycl_tools()
    return [[str(tools.compiler), str(tools.launcher), "kernel.cpp", OUTPUT, *source.flags]]


def _identity(source: Source) -> str:
    """The tools' key stands for our host programs and for the packages; asking for it makes the tools."""
    return "\n".join((sycl_tools().key, cpu_identity()))


register(Language(name="sycl", identity=_identity, plans=one_file("kernel.cpp", _commands)))
