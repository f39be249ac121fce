"""Compiles what candidates will ask for before they are heard: several at a time, caged as ever, into the build cache.

On a device this goes on beside a judgement. Where the processor is what is timed, everything must be compiled before
the first candidate is heard: compilers beside a timed call would be measured with it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from typing import TYPE_CHECKING

from kernelwright import backends, native
from kernelwright.judge._builder import Builder
from kernelwright.judge._status import InfraError, Rejection

if TYPE_CHECKING:
    from kernelwright.judge._judge import Judge

# One core in so many compiles beside a judgement on a device: its referee and its baselines need some too.
SHARE_BESIDE = 4
# More texts of one candidate are compiled when it asks for them.
MOST_TEXTS = 4


class Prebuild:
    """The builds of these candidates, begun at once. A context manager: leaving it begins no more.

    Attributes:
        beside: Whether they may go on while candidates are heard; where not, call `finish` first.
    """

    def __init__(self, judge: Judge, candidates: Iterable[str]) -> None:
        texts = list(candidates)
        self._longest = judge.limits.source_bytes
        self.beside = all(judge.belongs_on_device(text) for text in texts if len(text) <= self._longest)
        cores = len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(max(1, cores // SHARE_BESIDE) if self.beside else cores)
        self._builder = Builder(judge.template, limits=judge.limits, cache=judge.build_cache)
        self._builds: dict[native.Source, Future[None]] = {}
        self._of: dict[str, list[Future[None]]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more candidate."""
        if text not in self._of and len(text) <= self._longest:
            sources = backends.native_sources(text)[:MOST_TEXTS]
            self._of[text] = [self._begin(source) for source in sources]

    def forget(self, text: str) -> None:
        """It was heard; what it asked for is in the cache."""
        gone = set(self._of.pop(text, ()))
        self._builds = {source: build for source, build in self._builds.items() if build not in gone}

    def _begin(self, source: native.Source) -> Future[None]:
        if source not in self._builds:
            self._builds[source] = self._pool.submit(self._build, source)
        return self._builds[source]

    def _build(self, source: native.Source) -> None:
        """What fails here fails again when the candidate asks for it, and is told then."""
        with contextlib.suppress(native.CompileError, InfraError, Rejection, OSError):
            self._builder.compile(source)

    def __len__(self) -> int:
        return len(self._builds)

    def finish(self, each: Callable[[], None]) -> None:
        """Waits for all builds, and calls `each` after every one."""
        for _ in as_completed(self._builds.values()):
            each()

    def ready(self, text: str) -> None:
        """Waits for the builds of one candidate."""
        wait(self._of.get(text, ()))

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Prebuild:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
