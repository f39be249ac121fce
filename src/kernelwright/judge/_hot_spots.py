"""Where a candidate's threads are found when they are stopped at random moments: in whose code, at which address.

The same looks from outside that tell whose work a call is; here every address is kept, so that a listing of the
candidate's libraries can say in which loop it lies.
"""

from __future__ import annotations

import bisect
import os
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from kernelwright.judge._channel import Closed
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._coverage import DRIVER_MATHS, MATHS, POOLS, TORCH, generated, places
from kernelwright.judge._expected import Trial
from kernelwright.judge._machine_code import Code
from kernelwright.judge._placement import Attention
from kernelwright.judge._reference import SLOTS

ENOUGH, SECONDS, MOST_CALLS = 400, 1.5, 200
OWN, MATHS_LIBRARY, WAITING, TORCH_LIBRARY, OTHER = "own", "maths", "waiting", "torch", "other"
KINDS = {MATHS_LIBRARY: MATHS, WAITING: POOLS, TORCH_LIBRARY: TORCH}
# Code without a file has no listing. The driver's maths, called for whole vectors, is a part of the kernel.
OWN_GENERATED = "[own]"


@dataclass
class HotSpots:
    """Samples by kind of code, and those in the candidate's own by library (inode) and address in it."""

    kinds: Counter[str] = field(default_factory=Counter)
    own: dict[int, Counter[int]] = field(default_factory=dict)

    @property
    def seen(self) -> int:
        return self.kinds.total()

    def shares(self) -> dict[str, float]:
        kinds = (OWN, *KINDS, OTHER)
        return {kind: round(self.kinds[kind] / self.seen, 4) for kind in kinds} if self.seen else {}


def find(contestant: Contestant, trial: Trial) -> HotSpots:
    """Calls the candidate, looking at its threads, until enough was seen."""
    found = HotSpots()
    try:
        _watch_calls(contestant, trial, found)
    except FileNotFoundError as error:  # what /proc knew of it is gone
        with contestant.judged():
            raise Closed("the worker is gone") from error
    return found


def _watch_calls(contestant: Contestant, trial: Trial, found: HotSpots) -> None:
    code = _Code(contestant.worker.pid, contestant.libraries, contestant.codes)
    start = time.monotonic()
    with Attention():
        for number in range(MOST_CALLS):
            contestant.lay(trial.inputs, slot=number % SLOTS, shifted=True)
            _watch_call(contestant, code, found)
            if found.kinds[OWN] >= ENOUGH or time.monotonic() - start > SECONDS:
                break


def _watch_call(contestant: Contestant, code: _Code, found: HotSpots) -> None:
    with contestant.judged():
        for place in places(contestant.worker):
            if not place.waiting:
                code.count(place.address, found)
        contestant.note(contestant.worker.end_call(timeout=contestant.call_limit))


class _Code:
    """What lies where in a process's memory."""

    def __init__(self, pid: int, own: Collection[int], codes: list[Code]) -> None:
        self._pid, self._own, self._codes = pid, own, codes
        self._ranges: list[tuple[int, int, int, str]] = []
        self._bases: dict[int, int] = {}
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._note(line.split(maxsplit=5))
        self._starts = [start for start, *_ in self._ranges]

    def _note(self, fields: list[str]) -> None:
        start, stop = (int(part, 16) for part in fields[0].split("-"))
        inode = int(fields[4])
        if inode in self._own:
            self._bases.setdefault(inode, start)  # ranges come in order; a library begins at its address 0
        if "x" in fields[1] and len(fields) > 5:
            self._ranges.append((start, stop, inode, os.path.basename(fields[5].strip())))
        elif "x" in fields[1]:
            parts = generated(self._pid, start, stop, self._codes)
            self._ranges += [(first, last, 0, OWN_GENERATED if owner == OWN else "") for first, last, _, owner in parts]

    def count(self, address: int, found: HotSpots) -> None:
        index = bisect.bisect_right(self._starts, address) - 1
        inode, name = self._ranges[index][2:] if index >= 0 and address < self._ranges[index][1] else (0, "")
        if inode in self._bases:
            found.kinds[OWN] += 1
            found.own.setdefault(inode, Counter())[address - self._bases[inode]] += 1
        else:
            found.kinds[_kind(name)] += 1


def _kind(name: str) -> str:
    kinds = {**KINDS, OWN: (OWN_GENERATED, *DRIVER_MATHS)}
    return next((kind for kind, names in kinds.items() if name.startswith(names)), OTHER)
