"""C++ for the processor, compiled by `kernelwright.native` or by PyTorch's own extension loader."""

import ast
import os
import re
from collections.abc import Iterator

from kernelwright import native
from kernelwright.backends import _disassembly
from kernelwright.backends._backend import Availability, Backend, Listing
from kernelwright.backends._names import Names, parse
from kernelwright.backends._registry import register

_INLINE = "torch.utils.cpp_extension.load_inline"
# The smallest program that needs everything a candidate may: the compiler, its headers, OpenMP, the linker.
_PROBE = native.Source(
    "cpp", '#include <cmath>\n#include <omp.h>\nextern "C" int probe() { return omp_in_parallel(); }'
)
_WORTH_A_LOOK = {
    "native-asm": r"\b__asm__\b|\basm\b",
    "native-clock": r"\bstd::chrono\b|\bclock_gettime\b|\b__?rdtscp?\b|\bomp_get_wtime\b",
    "native-environment": r"\b(?:secure_)?getenv\b|\bsetenv\b|\bputenv\b|\bomp_set_\w+",
    "native-files": r"\bfopen\b|\b[io]?fstream\b|\bopen(?:at)?\s*\(|\bmmap\b|/proc/|\.incbin\b",
    "native-include": r'#\s*include\s*["<](?:/|[^">\n]{0,99}\.\.)|#\s*embed\b|__has_include',
    "native-loader": r"\bdlopen\b|\bdlsym\b|\bdl_iterate_phdr\b",
    "native-on-load": r"\b(?:__)?(?:con|de)structor(?:__)?\s*[(),]|\binit_array\b|\batexit\b",
    "native-process": r"\b(?:system|popen|v?fork|exec[lv]p?e?|ptrace|kill|_?exit|abort|syscall)\s*\(",
    "native-sleep": r"\b(?:u|nano)?sleep\s*\(|\bsleep_(?:for|until)\b",
    "native-static": r"\b(?:static|thread_local)\b(?![^;{(=\n]{0,99}\bconst)[^;{(=\n]{0,99}[;=\[]",
    "native-threads": r"\bstd::(?:jthread|thread|async)\b|\bpthread_\w+",
}


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
        return tree is not None and any(_compiles_cpp(*call) for call in Names(tree).calls(tree))

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *_screen_native(candidate_text))


def _fix() -> str:
    return "unset KERNELWRIGHT_CXX" if os.environ.get("KERNELWRIGHT_CXX") else native.install_command()


def _compiles_cpp(origin: str, call: ast.Call) -> bool:
    if origin == _INLINE:
        return not any(keyword.arg == "cuda_sources" for keyword in call.keywords)
    return origin == "kernelwright.native.cpp"


def _screen_native(candidate_text: str) -> Iterator[str]:
    """`family:line` for the C++ inside the candidate, lines counted in the candidate's file."""
    for first_line, text in _native_texts(candidate_text):
        for family, pattern in _WORTH_A_LOOK.items():
            lines = {first_line + text.count("\n", 0, match.start()) for match in re.finditer(pattern, text)}
            yield from (f"{family}:{line}" for line in sorted(lines))


def _native_texts(candidate_text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(parse(candidate_text) or ast.Module([], [])):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 'extern "C"' in node.value:
            yield node.lineno, node.value
