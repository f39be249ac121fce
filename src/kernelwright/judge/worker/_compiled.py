"""The worker of a reference under torch.compile: the reference's, with torch's compiler loaded before it is forked.

Loading takes two seconds, and finding out which vector instructions there are one more, and ten where nobody has found
out yet. The headers that torch compiles for itself (five seconds) outlive the judge with the rest of its cache.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType

from kernelwright.judge._channel import Channel
from kernelwright.judge.worker import _reference

COMPILER = ("torch._dynamo", "torch._inductor.compile_fx")


def load() -> None:
    """Nothing is compiled of any task, and nothing computed: whoever is forked must find no threads begun."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    with _lasting_headers():
        for part in COMPILER:
            importlib.import_module(part)
    _find_vectors(importlib.import_module("torch._inductor.cpu_vec_isa"))


def _find_vectors(known: ModuleType) -> None:
    """Each kind is compiled for and tried; here on all cores, and torch then finds what came of it."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(bool, known.supported_vec_isa_list))
    known.pick_vec_isa()


@contextmanager
def _lasting_headers() -> Iterator[None]:
    """Where torch looks for headers compiled before is settled when it is loaded: among temporary files."""
    before, tempfile.tempdir = tempfile.tempdir, os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    try:
        yield
    finally:
        tempfile.tempdir = before


def main(channel: Channel) -> None:
    _reference.main(channel)
