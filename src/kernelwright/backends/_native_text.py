"""Finds the places of a candidate's native code that deserve a look. Goes by words; judges nothing."""

import ast
import re
from collections.abc import Iterator, Mapping

from kernelwright.backends._names import parse

_INLINE, _LOAD = "torch.utils.cpp_extension.load_inline", "torch.utils.cpp_extension.load"
_CUDA_SOURCES = 2
# What text of a native language is known by.
_MARKS = ('extern "C"', "#include", "__global__", "torch::Tensor", "at::Tensor")
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


def loads_extension(origin: str) -> bool:
    """Whether this is PyTorch's extension loader."""
    return origin in (_INLINE, _LOAD)


def loads_cuda(origin: str, call: ast.Call, candidate_text: str) -> bool:
    """Whether this call hands CUDA to PyTorch's extension loader.

    As text by name or as the third argument; as files, if any CUDA stands in the candidate at all.
    """
    if origin == _LOAD:
        return "__global__" in candidate_text or ".cu" in candidate_text
    named = any(keyword.arg == "cuda_sources" and not _is_none(keyword.value) for keyword in call.keywords)
    return origin == _INLINE and (named or len(call.args) > _CUDA_SOURCES)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def screen_native(candidate_text: str, more: Mapping[str, str] | None = None) -> Iterator[str]:
    """`family:line` for the native code inside the candidate, lines counted in its file; `more`: patterns by family."""
    for first_line, text in _native_texts(candidate_text):
        for family, pattern in {**_WORTH_A_LOOK, **(more or {})}.items():
            lines = {first_line + text.count("\n", 0, match.start()) for match in re.finditer(pattern, text)}
            yield from (f"{family}:{line}" for line in sorted(lines))


def _native_texts(candidate_text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(parse(candidate_text) or ast.Module([], [])):
        match node:
            case ast.Constant(value=str(text)) if any(mark in text for mark in _MARKS):
                yield node.lineno, text
