"""CUDA text taken apart into its top-level declarations: what is for the device, what for the host. Goes by tokens.

Joined together again the pieces are the text, word for word. What cannot be told apart for sure is `MIXED`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from kernelwright.native._signatures import without_annotations
from kernelwright.native._tokens import TOKEN

_PLACES = re.compile(r"\b__(?:global|device|host|constant|managed|shared)__\b|<<<")
# What begins with one of these is no function, parentheses or not.
_TYPES = frozenset({"struct", "class", "union", "enum", "using", "typedef", "static_assert"})
_CONTINUED = re.compile(r"\\\r?\n")


class Kind(Enum):
    """Whom a declaration is for."""

    DIRECTIVE = "directive"  # of the preprocessor
    KERNEL = "kernel"
    DEVICE = "device"
    HOST = "host"
    BOTH = "both"
    MIXED = "mixed"


@dataclass(frozen=True)
class Piece:
    """One top-level declaration as written, with what stands before it; its head without the body, if it has one."""

    kind: Kind
    head: str
    body: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.head + self.body


def pieces(text: str) -> list[Piece]:
    """The declarations of a text in order, and at the end whatever follows the last of them."""
    return list(_pieces(text))


def is_kernels_only(text: str) -> bool:
    """Whether everything in a text runs on the device."""
    found = [piece.kind for piece in pieces(text)]
    return Kind.KERNEL in found and not {Kind.HOST, Kind.MIXED}.intersection(found)


def exporting(text: str) -> str:
    """The text with its kernels callable by their own names, if it has no function that launches them."""
    found = pieces(text)
    launched = any(piece.kind is Kind.MIXED or (piece.kind is Kind.HOST and piece.body) for piece in found)
    return text if launched else "".join(map(exported, found))


def is_plain_kernel(piece: Piece) -> bool:
    """One kernel, which one name in the whole text means."""
    several = _is_scope(piece.words) or {"template", "static", "inline"}.intersection(piece.words)
    return piece.kind is Kind.KERNEL and not several


def exported(piece: Piece) -> str:
    """The piece; if it is a kernel, one that is found by its own name."""
    if not is_plain_kernel(piece) or '"C"' in piece.words:
        return piece.text
    start = next(match.start() for match in TOKEN.finditer(piece.head) if match.lastgroup != "space")
    return f'{piece.head[:start]}extern "C" {piece.head[start:]}{piece.body}'


# *** taking apart ***


def _pieces(text: str) -> Iterator[Piece]:
    # Lines that go on are joined, in the same number of characters, so that a directive is one token.
    joined = _CONTINUED.sub(lambda found: "\f" * len(found[0]), text)
    start = depth = 0
    body: int | None = None
    words: list[str] = []
    for match in TOKEN.finditer(joined):
        token = match[0]
        if match.lastgroup == "space":
            continue
        if not words and token.startswith("#"):
            yield _directive(text[start : match.end()])
            start = match.end()
            continue
        depth += (token in "({[") - (token in ")}]")
        if token == "{" and depth == 1 and body is None:
            body = match.start()
        words += [token] if body is None else []
        ends = depth == 0 and (token == ";" or (token == "}" and _ends_at_brace(words)))
        if ends:
            yield _piece(text[start : body or match.end()], text[body or match.end() : match.end()], words)
            start, body, words = match.end(), None, []
    rest = text[start:]
    yield Piece(Kind.MIXED if words or depth else Kind.BOTH, rest, "", tuple(words))


def _directive(text: str) -> Piece:
    """A macro that makes functions hides whose they are."""
    return Piece(Kind.MIXED if _PLACES.search(text) else Kind.DIRECTIVE, text, "", ())


def _ends_at_brace(words: Sequence[str]) -> bool:
    """A function and a scope end with their bodies, a type and an initialiser with a semicolon."""
    return _is_function(words) or _is_scope(words)


def _is_function(words: Sequence[str]) -> bool:
    plain = without_annotations(words)
    if "(" not in plain or _TYPES.intersection(plain):
        return False
    return plain[0] == "template" or "=" not in plain[: plain.index("(")]


def _is_scope(words: Sequence[str]) -> bool:
    return list(words[:1]) == ["namespace"] or list(words) == ["extern", '"C"']


def _piece(head: str, body: str, words: Sequence[str]) -> Piece:
    return Piece(_kind(body, words), head, body, tuple(words))


def _kind(body: str, words: Sequence[str]) -> Kind:
    said = set(words)
    if _is_scope(words):
        return _kind_of_scope(body)
    if "__global__" in said:
        return Kind.KERNEL if body else Kind.MIXED
    if said & {"__constant__", "__managed__", "__shared__"}:
        return Kind.DEVICE
    if "__device__" in said:
        return Kind.BOTH if "__host__" in said else Kind.DEVICE
    return Kind.BOTH if _is_known_to_both(words) and not _is_function(words) else Kind.HOST


def _is_known_to_both(words: Sequence[str]) -> bool:
    """Types and constants; a variable without a word of where it lives is the host's."""
    return list(words) == [";"] or bool({*_TYPES, "const", "constexpr"}.intersection(words))


def _kind_of_scope(body: str) -> Kind:
    inside = {piece.kind for piece in _pieces(body[1:-1])} - {Kind.DIRECTIVE}
    if inside & {Kind.HOST, Kind.MIXED}:
        return Kind.MIXED
    if Kind.KERNEL in inside:
        return Kind.KERNEL
    return Kind.DEVICE if Kind.DEVICE in inside else Kind.BOTH
