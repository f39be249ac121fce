"""Builds of candidates that wait to be heard, so that the judge finds them ready.

On a device they go on beside a judgement, from the moment a candidate comes. Where the processor is what is timed, a
compiler beside a timed call would be measured with it: as many as there are cores are built between two judgements.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from kernelwright.judge import Judge, Prebuild


class Ahead:
    """For one judge, and as long as it lives."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._beside: Prebuild | None = None
        self._built: set[str] = set()

    def begin(self, text: str) -> None:
        """One has come. On a device its build begins now."""
        if self._judge.belongs_on_device(text):
            if self._beside is None:
                self._beside = self._judge.prebuild(())
            self._beside.add(text)

    def make_ready(self, texts: Sequence[str]) -> None:
        """Before the first of these is heard, while the others wait behind it."""
        if self._beside is not None:
            self._beside.ready(texts[0])
        batch = [text for text in texts[: len(os.sched_getaffinity(0))] if self._is_new(text)]
        if len(batch) > 1:  # one alone is built when it is heard
            self._built.update(batch)
            with self._judge.prebuild(batch) as builds:
                builds.finish(lambda: None)

    def _is_new(self, text: str) -> bool:
        return text not in self._built and not self._judge.belongs_on_device(text)

    def forget(self, text: str) -> None:
        """It was heard."""
        self._built.discard(text)
        if self._beside is not None:
            self._beside.forget(text)

    def close(self) -> None:
        if self._beside is not None:
            self._beside.close()
