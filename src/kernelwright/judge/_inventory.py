"""What accepted candidates were compiled to: signs counted in the libraries that the judge built for them.

They tell where a kernel stands among others (`backends.describe`) and are never a reason for a verdict. Only what the
judge can list cheaply is looked at; of the rest nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from kernelwright import backends
from kernelwright.judge._builder import Builder
from kernelwright.judge._status import InfraError
from kernelwright.judge.device import _listing

Counts = dict[str, int]
CUDA = "cuda"
# By backend, the bytes of a library beyond which it would cost more than a small part of a judgement: 180 ms for one
# of 203 KiB, 13 to 26 ms for the usual one of 16 KiB. A library for a GPU holds CUDA's runtime too.
LARGEST = {"cpp": 256 << 10, CUDA: 4 << 20}
MOST_KNOWN = 1024


class Inventory:
    """Counts signs in libraries, in each but once."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._known: dict[Path, Counts] = {}

    def expect(self, libraries: Mapping[int, str]) -> None:
        """Says that `of` will be asked about these: a worker is made ready if one will be needed."""
        found = [(self._builder.served.get(inode), backend) for inode, backend in libraries.items()]
        with suppress(OSError):
            if any(path and path not in self._known and not _why_not(backend, path) for path, backend in found):
                self._builder.make_ready()

    def of(self, libraries: Mapping[int, str]) -> dict[str, Counts]:
        """By backend, of all that was built for a candidate, without backends that cannot be listed.

        `libraries`: by inode, the backend each belongs to.
        """
        found: dict[str, Counts] = {}
        for backend in sorted(set(libraries.values())):
            own = [inode for inode, whose in libraries.items() if whose == backend]
            with suppress(InfraError, OSError):
                found[backend] = together(self._counts(backend, inode) for inode in own)
        return found

    def _counts(self, backend: str, inode: int) -> Counts:
        path = self._builder.served.get(inode)
        if path is None:
            raise InfraError("the library was forgotten")
        if path not in self._known:
            self._known[path] = self._count(backend, path)
            while len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return self._known[path]

    def _count(self, backend: str, library: Path) -> Counts:
        if missing := _why_not(backend, library):
            raise InfraError(missing)
        if backend == CUDA:
            return _listing.counts_of(self._builder, library)
        listing = backends.get(backend).listing
        assert listing is not None
        return listing.counts(self._builder.list_code(library, listing.command))


def _why_not(backend: str, library: Path) -> str:
    """Why a library is not looked into; empty where it is."""
    if library.stat().st_size > LARGEST.get(backend, 0):
        return "the library is too large to be listed in passing"
    if backend == CUDA:
        return "" if _listing.disassembler() else f"{_listing.PROGRAM} is not installed"
    listing = backends.get(backend).listing
    return listing.missing if listing else f"what the {backend} backend compiles cannot be listed"


def together(every: Iterable[Counts]) -> Counts:
    total: Counter[str] = Counter()
    for counts in every:
        for sign, number in counts.items():
            total[sign] += number
    return dict(total)
