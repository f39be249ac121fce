"""What a region's new text reaches for that no computation needs: clocks, output, exits, its caller, files, programs.

A region runs in the same process as the tests and the benchmark, so what it may reach for is settled before it runs.
What the original text uses already, any other may use too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_MODULES = frozenset(
    "atexit builtins code ctypes faulthandler gc importlib inspect io linecache mmap multiprocessing os pathlib pdb "
    "pickle platform pytest resource runpy shutil signal site socket subprocess sys sysconfig tempfile threading time "
    "timeit trace traceback types unittest _thread _ctypes _pytest".split()
)
_CALLS = frozenset(
    "print open exec eval compile exit quit globals locals vars setattr delattr input breakpoint __import__".split()
)
_ATTRIBUTES = frozenset(
    "_exit __globals__ __builtins__ __code__ __closure__ __subclasses__ __bases__ __mro__ __dict__ __class__ "
    "__loader__ __import__ f_back f_globals f_locals tb_frame gi_frame argv environ modules perf_counter "
    "perf_counter_ns monotonic process_time settrace setprofile fromfile tofile memmap".split()
)
_NATIVE = re.compile(
    r"\b(?:_?[eE]xit|quick_exit|at_?exit|at_quick_exit|abort|longjmp|printf|fprintf|puts|fputs|putchar|fwrite|vprintf|"
    r"cout|cerr|clog|ofstream|ifstream|fstream|fopen|freopen|tmpfile|clock|clock_gettime|clock_settime|gettimeofday|"
    r"chrono|__rdtsc|__rdtscp|rdtsc|getenv|setenv|putenv|environ|system|popen|fork|vfork|exec[lv]p?e?|dlopen|dlsym|"
    r"syscall|ptrace|mprotect|mmap|kill|raise|sigaction|signal|pthread_create|constructor|destructor|"
    r"__libc_start_main|backtrace)\b"
)
_LITERALS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def reaches(language: str, original: str, text: str) -> str | None:
    """The first thing that the text reaches for and the original does not; None if there is nothing."""
    look = _python if language in ("python", "triton") else _native
    allowed = set(look(original))
    return next((name for name in look(text) if name not in allowed), None)


def _native(text: str) -> Iterator[str]:
    return (found[0] for found in _NATIVE.finditer(_LITERALS.sub(" ", text)))


def _python(text: str) -> Iterator[str]:
    """Of a text that is no Python by itself, nothing: it will not build either."""
    tree = _parsed(text)
    for node in ast.walk(tree) if tree else ():
        yield from _named_by(node)


def _parsed(text: str) -> ast.Module | None:
    """A region may begin at any depth of a file."""
    for shape in (text, "if True:\n" + text, "class _:\n def _(self):\n" + text, "async def _():\n" + text):
        try:
            return ast.parse(shape)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _named_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            yield from (alias.name for alias in aliases if alias.name.partition(".")[0] in _MODULES)
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _MODULES:
            yield module
        case ast.ImportFrom(names=aliases):
            yield from (alias.name for alias in aliases if alias.name in _ATTRIBUTES | _CALLS | {"*"})
        case ast.Name(id=name) if name in _MODULES | _CALLS | _ATTRIBUTES:
            yield name
        case ast.Attribute(attr=name) if name in _ATTRIBUTES:
            yield name
