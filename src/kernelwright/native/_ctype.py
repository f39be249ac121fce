"""C types as far as a call needs them: pointer or scalar, of which width. Knows no tensor and no ctypes."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kernelwright.native._tokens import closing, is_word

Kind = Literal["pointer", "integer", "float", "bool", "void", "stream", "unknown"]
Aliases = Mapping[str, Sequence[str]]

_RECORDS = {"struct", "enum", "class", "union", "typename"}
_RESTRICT = {"restrict", "__restrict", "__restrict__"}
QUALIFIERS = frozenset({"const", "volatile", "register", "extern", *_RESTRICT, *_RECORDS})
_INTEGER_WORDS = frozenset({"unsigned", "signed", "int", "long", "short", "char"})
_LONG = 8 * ctypes.sizeof(ctypes.c_long)
_POINTER_SIZE = 8 * ctypes.sizeof(ctypes.c_void_p)
_WIDTHS = {(): 32, ("char",): 8, ("short",): 16, ("long",): _LONG, ("long", "long"): 64}
_NAMED = {
    "float": "float32",
    "double": "float64",
    "bool": "bool",
    "_Bool": "bool",
    "void": "void",
    "_Float16": "float16",
    "__fp16": "float16",
    "float16_t": "float16",
    "__bf16": "bfloat16",
    "bfloat16_t": "bfloat16",
    "half": "float16",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "sycl::half": "float16",
    "sycl::ext::oneapi::bfloat16": "bfloat16",
    "cudaStream_t": "stream",
    "cudaError_t": "int32",
    "size_t": f"uint{_POINTER_SIZE}",
    "uintptr_t": f"uint{_POINTER_SIZE}",
    "ssize_t": f"int{_POINTER_SIZE}",
    "ptrdiff_t": f"int{_POINTER_SIZE}",
    "intptr_t": f"int{_POINTER_SIZE}",
    **{f"{sign}{bits}_t": f"{sign}{bits}" for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
}
_KINDS: dict[str | None, Kind] = {
    "float32": "float",
    "float64": "float",
    "bool": "bool",
    "void": "void",
    "stream": "stream",
    # Half precision cannot be passed by value from Python, only pointed to.
    "float16": "unknown",
    "bfloat16": "unknown",
    None: "unknown",
}


@dataclass(frozen=True)
class CType:
    """`spelling` as the author wrote it; `scalar` in our words (float32, uint16...), None if unknown."""

    spelling: str
    scalar: str | None
    pointer: bool

    @property
    def kind(self) -> Kind:
        if self.pointer:
            return "pointer"
        return _KINDS.get(self.scalar, "integer")


def read_type(tokens: Sequence[str], aliases: Aliases, *, array: bool = False) -> CType:
    """The type spelled by `tokens`; `array` when brackets after the name make it a pointer."""
    meant = [token for token in _glue(list(_resolve(tokens, aliases))) if token not in QUALIFIERS]
    # A reference or a function is an address too, but not one of a tensor's data.
    stars = 0 if {"&", "("}.intersection(meant) else meant.count("*") + array
    words = [token for token in meant if token != "*"]
    scalar = _scalar(words) if stars < 2 else None
    return CType(_spell(_glue(tokens)) + "*" * array, scalar, stars > 0)


def type_and_name(tokens: Sequence[str]) -> tuple[list[str], str | None]:
    """Split a parameter into the tokens of its type and its name, None if it has none."""
    glued = _glue(tokens)
    before = [token for token in glued[:-1] if token not in QUALIFIERS]
    named = before and is_word(glued[-1]) and not _must_be_type(glued[-1])
    return (glued[:-1], glued[-1]) if named else (glued, None)


def _must_be_type(word: str) -> bool:
    return word in _INTEGER_WORDS or word in _NAMED or word in QUALIFIERS or "::" in word or "<" in word


def _scalar(words: Sequence[str]) -> str | None:
    if words and _INTEGER_WORDS.issuperset(words):
        return _integer(words)
    return _NAMED.get(words[0].removeprefix("std::")) if len(words) == 1 else None


def _integer(words: Sequence[str]) -> str | None:
    if list(words) == ["char"]:
        return "char"  # of either sign, by platform
    width = _WIDTHS.get(tuple(word for word in words if word not in ("int", "signed", "unsigned")))
    sign = "uint" if "unsigned" in words else "int"
    return f"{sign}{width}" if width else None


def _resolve(tokens: Sequence[str], aliases: Aliases, busy: frozenset[str] = frozenset()) -> Iterator[str]:
    for token in tokens:
        if token in aliases and token not in busy:
            yield from _resolve(aliases[token], aliases, busy | {token})
        else:
            yield token


def _glue(tokens: Sequence[str]) -> list[str]:
    """Join `a :: b` and `a < ... >` into one token each."""
    glued: list[str] = []
    index = 0
    while index < len(tokens):
        end = closing(tokens, index) if tokens[index] == "<" else index
        piece = "".join(tokens[index : end + 1])
        if glued and glued[-1] not in QUALIFIERS and (piece[0] in "<:" or glued[-1].endswith("::")):
            glued[-1] += piece
        else:
            glued.append(piece)
        index = end + 1
    return [piece.removeprefix("::") for piece in glued]


def _spell(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace(" *", "*").replace(" &", "&")
