"""A loaded shared library whose attributes are its functions. Knows loading and lookup; not compiling."""

import ctypes
import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

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

    _nothing: ClassVar[str] = NOTHING_TO_CALL
    __kernelwright_source__: Source
    path: Path

    def __init__(self, source: Source, path: Path, functions: Mapping[str, Signature]) -> None:
        self.__kernelwright_source__ = source
        self.path = path
        self._functions = functions
        self._handle: Any = self._open(path)

    @classmethod
    def _read(cls, text: str) -> dict[str, Signature]:
        """What the text offers for calling, by name."""
        return signatures(text)

    def _open(self, path: Path) -> Any:
        try:
            return ctypes.CDLL(str(path))
        except OSError as fault:
            raise CompileError("the library compiled but does not load", str(fault)) from fault

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._functions:
            raise AttributeError(self._unknown(name))
        foreign = self._find(name)  # also when muted: what is not there must not seem to be
        function = self._bind(self._functions[name], silent() if is_muted() else foreign)
        self.__dict__[name] = function  # the next access finds it without coming here
        return function

    def _find(self, name: str) -> Any:
        try:
            return self._handle[name]
        except AttributeError:
            raise AttributeError(f"{name} stands in the text, but the library does not export it") from None

    def _bind(self, signature: Signature, foreign: Any) -> Callable[..., Any]:
        return bind(signature, foreign)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions})

    def __repr__(self) -> str:
        return f"<{self.__kernelwright_source__.language} library: {', '.join(self._functions)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> "Library":
        return self  # code has no state of its own to copy

    def __reduce__(self) -> tuple[Callable[..., "Library"], tuple[Source, type["Library"]]]:
        return load, (self.__kernelwright_source__, type(self))

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._functions, n=1)
        question = f" did you mean {close[0]}?" if close else ""
        return f'no extern "C" function {name!r};{question} the library has: {", ".join(self._functions)}'


L = TypeVar("L", bound=Library)


def load(source: Source, kind: type[L]) -> L:
    """Build `source` and open the library, after making sure there is something in it to call."""
    functions = kind._read(source.text)
    if not functions:
        raise CompileError(kind._nothing)
    return kind(source, build(source), functions)
