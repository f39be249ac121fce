"""The head of a GGUF file: whether it is one, and how long a text its model can read.

Only the key-value pairs in front of the weights are looked at; nothing is loaded.
"""

import struct
from pathlib import Path
from typing import BinaryIO

from kernelwright.propose._request import ProposerError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
CONTEXT = ".context_length"
# Of the format: how values of each type are packed; strings and arrays come with their lengths.
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# No head of a real file has more, and a broken one must not keep anybody reading.
MOST_PAIRS, LONGEST = 100_000, 100_000_000


def context_of(path: Path) -> int | None:
    """How many tokens the model was made to read and write; None where the file does not say. Raises ProposerError."""
    try:
        with path.open("rb") as file:
            return _context(file, path)
    except OSError as fault:
        raise ProposerError(f"{path}: cannot be read: {fault.strerror}.", "Name a GGUF file.") from fault
    except (struct.error, ValueError, KeyError, RecursionError) as fault:
        raise ProposerError(f"{path}: the head of this GGUF file is broken.", "Download the file again.") from fault


def _context(file: BinaryIO, path: Path) -> int | None:
    if file.read(len(MAGIC)) != MAGIC:
        raise ProposerError(f"{path}: this is not a GGUF file.", "Download the model in GGUF form.")
    version, _, pairs = _unpacked(file, "IQQ")
    if version not in VERSIONS:
        raise ProposerError(f"{path}: this GGUF file has version {version}.", "Convert it to version 3.")
    for _ in range(_at_most(pairs, MOST_PAIRS)):
        name = _text(file)
        value = _value(file, _unpacked(file, "I")[0])
        if name.endswith(CONTEXT) and isinstance(value, int):
            return value
    return None


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        inner, number = _unpacked(file, "IQ")
        _skip(file, inner, _at_most(number, LONGEST))
        return None
    return _unpacked(file, _PLAIN[kind])[0]


def _skip(file: BinaryIO, kind: int, number: int) -> None:
    """An array is passed over: what is looked for is none."""
    if kind in _PLAIN:
        file.seek(number * struct.calcsize(_PLAIN[kind]), 1)
        return
    for _ in range(number):
        _value(file, kind)


def _text(file: BinaryIO) -> str:
    (length,) = _unpacked(file, "Q")
    return file.read(_at_most(length, LONGEST)).decode("utf-8", errors="replace")


def _unpacked(file: BinaryIO, form: str) -> tuple[int, ...]:
    packing = f"<{form}"
    return struct.unpack(packing, file.read(struct.calcsize(packing)))


def _at_most(number: int, most: int) -> int:
    if number > most:
        raise ValueError(number)
    return number
