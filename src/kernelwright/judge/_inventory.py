"""What accepted candidates were compiled to: signs counted in the libraries that the judge built for them.

They tell where a kernel stands among others (`backends.describe`) and are never a reason for a verdict. Only what the
judge can list cheaply is looked at; of the rest nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from kernelwright import backends
from kernelwright.judge._builder import Builder
from kernelwright.judge._status import InfraError
from kernelwright.judge.device import _listing

Counts = dict[str, int]
# By backend, the bytes of a library beyond which it would cost more than a small part of a judgement: 184 ms for one
# of 203 KiB, 4 ms for the usual one of 16 KiB. A library for a GPU holds CUDA's runtime too.
LARGEST = {"cpp": 256 << 10, "cuda": 4 << 20}
MOST_KNOWN = 1024


class Inventory:
    """Counts signs in libraries, in each but once."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._counts = lru_cache(maxsize=MOST_KNOWN)(self._count)

    def of(self, libraries: Mapping[int, str]) -> dict[str, Counts]:
        """By backend, of all that was built for a candidate, without backends that cannot be listed.

        `libraries`: by inode, the backend each belongs to.
        """
        found: dict[str, Counts] = {}
        for backend in sorted(set(libraries.values())):
            own = [inode for inode, whose in libraries.items() if whose == backend]
            with suppress(InfraError, OSError):
                found[backend] = together(self._counts(backend, self._path(inode)) for inode in own)
        return found

    def _path(self, inode: int) -> Path:
        path = self._builder.served.get(inode)
        if path is None:
            raise InfraError("the library was forgotten")
        return path

    def _count(self, backend: str, library: Path) -> Counts:
        if library.stat().st_size > LARGEST.get(backend, 0):
            raise InfraError("the library is too large to be listed in passing")
        if backend == "cuda":
            return _listing.counts_of(self._builder, library)
        listing = backends.get(backend).listing
        if listing is None or listing.missing:
            raise InfraError(f"what the {backend} backend compiles cannot be listed here")
        return listing.counts(self._builder.list_code(library, listing.command))


def together(every: Iterable[Counts]) -> Counts:
    total: Counter[str] = Counter()
    for counts in every:
        for sign, number in counts.items():
            total[sign] += number
    return dict(total)
