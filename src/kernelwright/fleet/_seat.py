"""A place on a node where one job at a time is judged, and one where others' candidates are compiled.

Runs on the node, started by whoever opens the cluster as a fleet. Holds nothing that could not be lost: a judge, and
the last results, so that a search that was killed and asks again does not have them made twice.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kernelwright import backends, native
from kernelwright.fleet._courtroom import Courtroom, Fault, JudgeMaker
from kernelwright.fleet._job import Job
from kernelwright.judge import Judge

MOST_KEPT = 1024
# What was in a node's environment before its cluster wrote into that of its workers.
BEFORE = "KERNELWRIGHT_BEFORE_"
CHANGED = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")

Told = dict[str, Any]
Artefacts = dict[str, bytes]


class Seat:
    """Judges jobs, one after the other, with whatever was compiled for them elsewhere."""

    def __init__(self, judges: JudgeMaker, device: str) -> None:
        _restore_environment()
        self._courtroom = Courtroom(judges, device=device)
        self._kept: OrderedDict[str, Told] = OrderedDict()

    def hear(self, wire: Told, task: Told, built: Artefacts | None = None) -> Told:
        """A result, or `{"fault": ..., "hopeless": ...}` where this machine failed."""
        job = Job.from_wire(wire, task)
        if job.name not in self._kept:
            admit(built or {})
            try:
                self._keep(job.name, asdict(self._courtroom.hear(job)))
            except Fault as fault:
                return {"fault": str(fault), "hopeless": fault.hopeless, "where": self._courtroom.where}
        return self._kept[job.name]

    def kept(self) -> list[str]:
        """Jobs whose results it still knows."""
        return list(self._kept)

    def rest(self) -> None:
        """Nobody wants anything for now: ends the judge's processes."""
        self._courtroom.close()

    def _keep(self, name: str, told: Told) -> None:
        self._kept[name] = told
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


class Bench:
    """Compiles what candidates will ask for, caged as ever, for whoever judges them."""

    def __init__(self, judges: JudgeMaker, device: str) -> None:
        _restore_environment()
        self._judges = judges
        self._judge: Judge | None = None

    def kept(self) -> list[str]:
        """It judges nothing."""
        return []

    def rest(self) -> None:
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()

    def build(self, source: str) -> Artefacts:
        """By the names that the build cache gives them. What does not compile fails again, and is told, when judged."""
        if self._judge is None:
            self._judge = self._judges()
        with self._judge.prebuild([source]) as builds:
            builds.finish(lambda: None)
        cache = self._judge.build_cache
        found = ((native.build_key(text), cache.stored(text)) for text in backends.native_sources(source))
        return {key: stored for key, stored in found if stored is not None}


def admit(built: Mapping[str, bytes]) -> None:
    """Into this machine's build cache: named by the content of what was compiled, sealed by that of what came of it."""
    cache = native.BuildCache(native.cache_dir() / "build")
    for key, stored in built.items():
        cache.admit(key, stored)


def _restore_environment() -> None:
    """A cluster tells its workers to use one thread and no GPU; a judge uses what its machine has."""
    for name in CHANGED:
        before = os.environ.get(BEFORE + name)
        if before:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
