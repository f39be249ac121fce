"""C++ for the processor, compiled by `kernelwright.native` or by PyTorch's own extension loader."""

import os

from kernelwright import native
from kernelwright.backends import _disassembly
from kernelwright.backends._backend import Availability, Backend, Listing
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import loads_cuda, loads_extension, screen_native
from kernelwright.backends._registry import register

_NATIVE = "kernelwright.native.cpp"
# The smallest program that needs everything a candidate may: the compiler, its headers, OpenMP, the linker.
_PROBE = native.Source(
    "cpp", '#include <cmath>\n#include <omp.h>\nextern "C" int probe() { return omp_in_parallel(); }'
)


@register
class Cpp(Backend):
    """C++ text in the candidate, called through its `extern "C"` functions."""

    name = "cpp"
    listing = Listing(
        command=("objdump", "--disassemble", "--no-show-raw-insn", "--demangle", "--section=.text"),
        install="apt-get install binutils",
        machines=("x86_64",),
        facts=_disassembly.facts,
    )

    def available(self) -> Availability:
        try:
            found = native.toolchain()
            native.BuildCache(native.cache_dir() / "build").get(_PROBE)
        except native.CompileError as fault:
            return Availability(False, fault.headline, _fix())
        except OSError as fault:
            return Availability(False, f"cannot build: {fault}", "export KERNELWRIGHT_CACHE=$(mktemp -d)")
        return Availability(True, f"{found.version} at {found.path}")

    def recognises(self, candidate_text: str) -> bool:
        tree = parse(candidate_text)
        return tree is not None and any(
            origin == _NATIVE or (loads_extension(origin) and not loads_cuda(origin, call, candidate_text))
            for origin, call in Names(tree).calls(tree)
        )

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *screen_native(candidate_text))


def _fix() -> str:
    return "unset KERNELWRIGHT_CXX" if os.environ.get("KERNELWRIGHT_CXX") else native.install_command()
