"""What a killed run is held against: a model that counts, a fleet that has a run's verdicts ready, kernels to write."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernelwright.engine._asking import reply_of
from kernelwright.fleet import Job, Kind, Result
from kernelwright.propose import Reply
from kernelwright.propose._mailbox import END
from kernelwright.store import Records

LOOK_SECONDS = 0.05
HEAD = re.compile(r"# Request (\d+)\n\nKind: (\w+)\.")

KERNEL = '''```python
import torch

from kernelwright import native

lib = native.cpp(r"""
#include <cstdint>

extern "C" void run(const float* x, float* y, int64_t n) {{
    {pragma}
    for (int64_t i = 0; i < n; i++) {body}
}}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        lib.run(x, y, x.numel())
        return y  # {mark}
```
'''
PRAGMAS = ("", "#pragma omp simd", "#pragma omp parallel for", "#pragma omp parallel for simd")
RIGHT = ("y[i] = x[i] > 0 ? x[i] : 0;", "y[i] = x[i] < 0 ? 0 : x[i];")
WRONG = ("y[i] = 7;", "y[i] = x[i];", "y[i] = nobody[i];", "y[i] = ")


def answer(number: str, kind: str) -> str:
    """To the request of this number, always the same: kernels of several kinds, broken ones, old ones, and prose."""
    rng = random.Random(number)
    if kind == "rewrite" or rng.random() < 0.1:
        return "I have nothing to add."
    body = rng.choice(WRONG if rng.random() < 0.25 else RIGHT)
    mark = "again" if rng.random() < 0.15 else f"number {number}"
    return KERNEL.format(pragma=rng.choice(PRAGMAS), body=body, mark=mark)


class Answerer(threading.Thread):
    """Answers whatever is asked in a mailbox, and counts it. `given`: how often each request was answered."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder, self._over = folder, threading.Event()
        self.given: Counter[str] = Counter()

    def run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            for letter in sorted(self._folder.glob("*.request.md")):
                self._answer(letter.name.removesuffix(".request.md"))

    def _answer(self, stem: str) -> None:
        letter, place = self._folder / f"{stem}.request.md", self._folder / f"{stem}.answer.md"
        try:
            found = HEAD.match(letter.read_text())
        except FileNotFoundError:
            return
        if found and not place.exists() and not (self._folder / "answered" / place.name).exists():
            self.given[stem] += 1
            temporary = place.with_suffix(".part")
            temporary.write_text(f"{answer(*found.groups())}\n{END}\n")
            temporary.rename(place)

    def stop(self) -> None:
        self._over.set()
        self.join()


class Recorded:
    """A fleet that measures nothing: it has the verdicts and profiles of another run, job by job."""

    def __init__(self, records: Records, run: str) -> None:
        self._verdicts = {judged.job: judged.verdict for judged in records.verdicts(run)}
        told = (event.data for event in records.events(run) if event.kind == "profile")
        self._profiles = {one["candidate"]: one["profile"] for one in told}
        races = (event.data for event in records.events(run) if event.kind == "race")
        self._races = {one["candidate"]: one["race"] for one in races}
        self._waiting: list[Job] = []
        self.heard: list[str] = []

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def finished(self, timeout: float) -> Iterable[Result]:
        waiting, self._waiting = self._waiting, []
        return [self._answered(job) for job in waiting]

    def _answered(self, job: Job) -> Result:
        if job.race:
            return self._result(job, Kind.RACED, race=self._races[job.candidate])
        return self._profiled(job) if job.profile_of else self._judged(job)

    def _judged(self, job: Job) -> Result:
        assert job.name in self._verdicts, f"the killed run has never measured {job}"
        self.heard.append(job.name)
        return self._result(job, Kind.JUDGED, verdict=self._verdicts[job.name])

    def _profiled(self, job: Job) -> Result:
        found = self._profiles.get(job.candidate, {"absent": "the run ended before"})
        return self._result(job, Kind.PROFILED, profile=found)

    def _result(self, job: Job, kind: Kind, **what: Any) -> Result:
        return Result(kind=kind, job=job.name, candidate=job.candidate, where="recorded", judge="1", **what)

    def close(self) -> None: ...


def replies(records: Records, run: str) -> dict[str, Reply]:
    """By request, as a replay wants them."""
    return {kept.request: reply_of(kept) for kept in records.replies(run)}
