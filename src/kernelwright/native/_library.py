"""A loaded shared library whose attributes are its functions. Knows loading and lookup; not compiling."""

import ctypes
import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kernelwright.native._builder import build
from kernelwright.native._call import bind
from kernelwright.native._errors import CompileError
from kernelwright.native._mute import is_muted, silent
from kernelwright.native._signatures import Signature, signatures
from kernelwright.native._source import Source

NOTHING_TO_CALL = (
    'the text defines no extern "C" function; write `extern "C" void name(const float* x, ...) { ... }` '
    "(functions made by macros with parameters are not seen)"
)


class Library:
    """The `extern "C"` functions of one compiled source, as attributes: `lib.softmax(x, y, rows, cols)`.

    A function takes CPU tensors (or an address, or None) for pointers, ints, floats and bools for scalars,
    and returns what the C function returns. Arguments that do not fit raise NativeCallError before the call.
    Other Python threads run during a call.
    """

    __kernelwright_source__: Source
    path: Path

    def __init__(self, source: Source, path: Path, functions: Mapping[str, Signature]) -> None:
        self.__kernelwright_source__ = source
        self.path = path
        self._functions = functions
        self._handle = _open(path)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._functions:
            raise AttributeError(self._unknown(name))
        function = self._bind(self._functions[name])
        self.__dict__[name] = function  # the next access finds it without coming here
        return function

    def _bind(self, signature: Signature) -> Callable[..., Any]:
        try:
            foreign = self._handle[signature.name]
        except AttributeError:
            raise AttributeError(f"{signature.name} stands in the text, but the library does not export it") from None
        return bind(signature, silent() if is_muted() else foreign)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions})

    def __repr__(self) -> str:
        return f"<{self.__kernelwright_source__.language} library: {', '.join(self._functions)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> "Library":
        return self  # code has no state of its own to copy

    def __reduce__(self) -> tuple[Callable[[Source], "Library"], tuple[Source]]:
        return load, (self.__kernelwright_source__,)

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._functions, n=1)
        question = f" did you mean {close[0]}?" if close else ""
        return f'no extern "C" function {name!r};{question} the library has: {", ".join(self._functions)}'


def load(source: Source) -> Library:
    """Build `source` and open the library, after making sure there is something in it to call."""
    functions = signatures(source.text)
    if not functions:
        raise CompileError(NOTHING_TO_CALL)
    return Library(source, build(source), functions)


def _open(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as fault:
        raise CompileError("the library compiled but does not load", str(fault)) from fault
