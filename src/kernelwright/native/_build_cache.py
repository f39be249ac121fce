"""Content-addressed shared libraries on disk. Knows keys and files; not how anything is compiled."""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from kernelwright.native._compile import compile_source
from kernelwright.native._errors import CompileError
from kernelwright.native._language import language_of
from kernelwright.native._source import Source

FORMAT = 1
SEAL = b"\nkernelwright "
SEAL_LENGTH = len(SEAL) + 64


def cache_dir() -> Path:
    """Where everything rebuildable lives: `$KERNELWRIGHT_CACHE`, else the user's cache folder."""
    chosen = os.environ.get("KERNELWRIGHT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelwright"


def build_key(source: Source) -> str:
    """The name of a build: equal keys mean equal machine code for this machine."""
    identity = language_of(source).identity(source)
    parts = [FORMAT, source.language, source.text, list(source.flags), identity]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class BuildCache:
    """Libraries by build key in one folder, safe to share between processes.

    An entry appears whole or not at all: it is written beside its place, sealed with its own digest, and
    moved in. An entry whose seal does not hold (cut off, emptied, altered by accident) is built again.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def get(self, source: Source, build: Callable[[Source, Path], None] = compile_source) -> Path:
        """The library of `source`, built now if it is not there yet."""
        entry = self.directory / f"{build_key(source)}.so"
        if not _sealed(entry):
            self._fill(entry, source, build)
        return entry

    def stored(self, source: Source) -> bytes | None:
        """A library as it lies here, with its seal, for another machine to `admit`; None where there is none."""
        entry = self.directory / f"{build_key(source)}.so"
        return entry.read_bytes() if _sealed(entry) else None

    def admit(self, key: str, stored: bytes) -> None:
        """A library that another machine has built. What is here stays; what came damaged is left out."""
        if not re.fullmatch("[0-9a-f]{64}", key):
            raise ValueError(f"{key!r} is no build key")
        entry = self.directory / f"{key}.so"
        if _holds(stored) and not _sealed(entry):
            self.directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".building-", dir=self.directory) as folder:
                fresh = Path(folder) / entry.name
                fresh.write_bytes(stored)
                os.replace(fresh, entry)

    def _fill(self, entry: Path, source: Source, build: Callable[[Source, Path], None]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=self.directory) as folder:
            fresh = Path(folder) / entry.name
            build(source, fresh)
            _seal(fresh)
            os.replace(fresh, entry)


def _seal(path: Path) -> None:
    """Append the content's digest; the loader ignores bytes after the last section."""
    content = path.read_bytes() if path.exists() else b""
    if not content:
        raise CompileError("the build ended without an error and without a library")
    with path.open("ab") as file:
        file.write(SEAL + _digest(content))


def _sealed(path: Path) -> bool:
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return False
    return _holds(stored)


def _holds(stored: bytes) -> bool:
    content, seal = stored[:-SEAL_LENGTH], stored[-SEAL_LENGTH:]
    return bool(content) and seal == SEAL + _digest(content)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
