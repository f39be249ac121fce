"""C++ for the processor, compiled by `kernelwright.native` or by PyTorch's own extension loader."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernelwright import native
from kernelwright.backends import _disassembly
from kernelwright.backends._backend import Availability, Backend, Listing
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import loads_cuda, loads_extension, screen_native
from kernelwright.backends._registry import register
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from kernelwright.backends._strategy._program import Program

_NATIVE = "kernelwright.native.cpp"
# The smallest program that needs everything a candidate may: the compiler, its headers, OpenMP, the linker.
_PROBE = native.Source(
    "cpp", '#include <cmath>\n#include <omp.h>\nextern "C" int probe() { return omp_in_parallel(); }'
)

# Which words of C++ prove what; `backends.describe` reads it.
_STRATEGY = Vocabulary(
    calls={
        "load": r"_mm\d*_\w*(?:load|lddqu|gather)\w*|_mm\d*_broadcast_s\w|vld1q?_\w+|(?:\w+::)*loadu",
        "store": r"_mm\d*_\w*(?:store|stream)\w*|vst1q?_\w+",
        "shape": r"_mm\d*_\w*(?:load|lddqu|gather|store|stream)\w*|v(?:ld|st)1q?_\w+|(?:\w+::)*loadu"
        r"|\.copy_(?:from|to)|(?:std::|__builtin_)assume_aligned|__builtin_nontemporal_\w+",
        "ahead": r"__builtin_prefetch|_mm_prefetch",
        "exchange": r"_mm\d*_(?:mask_)?(?:hadd|hsub|reduce|permute\w*|shuffle|movehl|movelh|movehdup|alignr|extractf\w*"
        r"|unpack\w+)_\w+|vaddvq?_\w+|vpaddq?_\w+",
        "combine": r"_mm\d*_(?:mask_)?reduce_\w+|v(?:add|max|min)vq?_\w+",
        "engine": r"_tile_dp\w+|_mm\d*_dp(?:bf16|busd|wssd)\w*|vmmlaq?_\w+|vbfmmlaq?_\w+",
        "fma": r"(?:std::|__builtin_)?fmaf?|_mm\d*_(?:mask[3z]?_)?f(?:n?m)(?:add|sub)\w*|vfmaq?_\w+|vmlaq?_\w+",
        "times": r"_mm\d*_mul\w*|vmulq?_\w+",
        "plain": r"_mm\d*_(?:set|cast|cvt)\w*|static_cast|\.(?:data|data_ptr|size)",
        "team": r"std::(?:j?thread|async)|(?:at|tbb)::parallel_\w+|pthread_create",
        "atomic": r"\.(?:fetch_\w+|compare_exchange\w*)|__atomic_\w+|__sync_(?:fetch|add|bool|val)\w*"
        r"|std::atomic_fetch\w*",
    },
    directives={
        "shape": r"\bomp\b.*\bsimd\b|\bGCC\s+ivdep\b|\bclang\s+loop\s+vectorize\b",
        "team": r"\bomp\s+parallel\b",
        "exchange": r"\bomp\b.*\breduction\s*\(",
        "across": r"\bomp\s+(?:atomic|critical|task|taskloop|ordered)\b"
        r"|\bomp\b.*\bschedule\s*\(\s*(?:dynamic|guided)\b",
    },
    types={
        "team": r"\bstd::(?:j?thread|future|barrier|latch)\b|\bpthread_t\b",
        "atomic": r"\bstd::atomic(?:_ref)?\b",
        "across": r"\b(?:lock_guard|unique_lock|scoped_lock|condition_variable)\b",
    },
    wide_type=r"\b__m(?:128|256|512)[dhi]?\b|\b(?:float|int|uint|bfloat)\d+x\d+_t\b",
    predefined={"__restrict__": "", "__restrict": ""},
)

# What is left of that in machine code. Vectors of any width will do, whoever made them; so will any call to a runtime.
_VECTORS = ("vector_128", "vector_256", "vector_512", "vector_moves")
_SIGNS = {
    "shape": (*_VECTORS, "prefetches", "streams"),
    "wide": _VECTORS,
    "ahead": ("prefetches",),
    "engine": ("matrix",),
    "engine tile": ("matrix",),
    "team": ("threading",),
    "exchange": (*_VECTORS, "threading", "locked"),
    "atomic": ("locked", "threading"),
    "atomic type": ("locked", "threading"),
    "across": ("threading", "locked"),
}


@register
class Cpp(Backend):
    """C++ text in the candidate, called through its `extern "C"` functions."""

    name = "cpp"
    strategy = _STRATEGY
    signs = _SIGNS
    listing = Listing(
        command=("objdump", "--disassemble", "--no-show-raw-insn", "--demangle", "--section=.text"),
        install="apt-get install binutils",
        machines=("x86_64",),
        facts=_disassembly.facts,
        counts=_disassembly.counts,
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

    def programs(self, source: str) -> "Iterable[Program]":
        from kernelwright.backends._strategy._candidate import native_programs

        return native_programs(source, self.name, self.strategy)

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *screen_native(candidate_text))


def _fix() -> str:
    return "unset KERNELWRIGHT_CXX" if os.environ.get("KERNELWRIGHT_CXX") else native.install_command()
