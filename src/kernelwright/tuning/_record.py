"""One append-only file: log of every lap, point to resume from, source of replays.

A line of JSON a lap. The first line of a setting (task, candidate, device, compiler, driver) spells it out, the others
refer to it by its key: what was measured in another setting is never taken for this one's. A line that was cut off by a
crash is passed over.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.judge import Verdict
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._racer import Lap, Racer, Times
from kernelwright.tuning._template import Configuration

FORMAT = 1
KEY_LETTERS = 12


def key_of(setting: Mapping[str, Any]) -> str:
    """What laps of one setting are known by."""
    text = json.dumps({"format": FORMAT, **setting}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LETTERS]


@dataclass
class Track:
    """All that is recorded of one configuration, and how much of it was asked for in this race."""

    laps: list[Lap] = field(default_factory=list)
    used: int = 0

    @property
    def failure(self) -> str:
        return next((lap.failure for lap in self.laps if lap.failure), "")

    @property
    def rounds(self) -> int:
        return sum(_rounds(lap) for lap in self.laps)

    def has(self, rounds: int) -> bool:
        """Whether so many more were run, or as many as can be had at once."""
        return bool(self.failure) or self._next(rounds) is not None or self.rounds >= self.used + rounds

    def take(self, rounds: int) -> Lap:
        """The next rounds. Whoever asks for more than there are gets those from the beginning once more."""
        lap = self._next(rounds)
        if lap is None:
            lap = self._cut(self.used, rounds)
        self.used += _rounds(lap)
        return lap

    def _next(self, rounds: int) -> Lap | None:
        """The lap that was run for just this request, or would be."""
        ends = itertools.accumulate((_rounds(lap) for lap in self.laps), initial=0)
        for lap, start in zip(self.laps, ends, strict=False):
            if lap.failure or (start == self.used and (lap.whole or _rounds(lap) == rounds)):
                return lap
        return None

    def _cut(self, first: int, rounds: int) -> Lap:
        """Rounds out of longer laps, at the share of their price; it is built once and started for every request."""
        times, pace = (self._taken([getattr(lap, name) for lap in self.laps], first, rounds) for name in FIELDS)
        run = sum(lap.run for lap in self.laps) * rounds / self.rounds
        build = 0.0 if first else self.laps[0].build
        return Lap(times=times, pace=pace, build=build, load=self.laps[0].load, run=run)

    def _taken(self, recorded: Sequence[Times], first: int, rounds: int) -> Times:
        found = {}
        for case in recorded[0]:
            every = [seconds for times in recorded for seconds in times[case]]
            found[case] = tuple(every[place % len(every)] for place in range(first, first + rounds))
        return found


FIELDS = ("times", "pace")


class Record:
    """The laps of one setting in a file; a new file where there is none."""

    def __init__(self, path: Path, setting: Mapping[str, Any]) -> None:
        self._path, self._setting, self._key = path, setting, key_of(setting)
        self.tracks: dict[Configuration, Track] = defaultdict(Track)
        self.verdicts: dict[str, Verdict] = {}
        self.sampler = ""
        self._known = False
        for told in _lines(path):
            self._read(told)

    def _read(self, told: Mapping[str, Any]) -> None:
        if told.get("key") != self._key:
            return
        self._known = True
        if "of" in told:
            self.tracks[Configuration.from_json(told["of"])].laps.append(Lap.from_json(told))
        if "sampler" in told:
            self.sampler = told["sampler"]
        if "verdict" in told:
            self.verdicts[told["verdict"]["candidate"]] = Verdict.from_json(told["verdict"])

    def add(self, configuration: Configuration, lap: Lap) -> None:
        """On disk before it is used."""
        told = lap.to_json()
        self._write({"of": configuration.to_json(), **told})
        self.tracks[configuration].laps.append(Lap.from_json(told))  # as whoever reads the file will have it

    def add_sampler(self, sampler: str) -> None:
        """Who says which configurations to try; a replay must ask the same."""
        self._write({"sampler": sampler})
        self.sampler = sampler

    def add_verdict(self, verdict: Verdict) -> None:
        self._write({"verdict": verdict.to_json()})
        self.verdicts[verdict.candidate] = verdict

    def _write(self, told: Mapping[str, Any]) -> None:
        head = [] if self._known else [{"key": self._key, "setting": {"format": FORMAT, **self._setting}}]
        self._known = True
        self._append("".join(json.dumps(line) + "\n" for line in [*head, {"key": self._key, **told}]))

    def _append(self, text: str) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                torn = file.tell() and not _ends_with_a_newline(self._path)
                file.write((("\n" if torn else "") + text).encode())
        except OSError as error:
            raise TuningError(f"{self._path} cannot be written: {error.strerror}", "choose another --cache") from error


class Recorded:
    """A racer that answers from a record as far as it goes, and lets the rest run and be recorded.

    Attributes:
        replayed: How many laps came from the record.
    """

    def __init__(self, record: Record, weights: Mapping[str, float], live: Racer | None = None) -> None:
        """`live`: who runs what is not recorded; where there is none, only what is recorded may be asked for."""
        self._record, self._weights, self._live = record, weights, live
        self.replayed = 0

    @property
    def weights(self) -> Mapping[str, float]:
        return self._weights

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        missing = [entrant for entrant in entrants if not self._has(entrant, rounds)]
        self.replayed += len(entrants) - len(missing)
        if missing:
            self._run_live(missing, rounds)
        return [self._record.tracks[entrant].take(rounds) for entrant in entrants]

    def _has(self, entrant: Configuration, rounds: int) -> bool:
        track = self._record.tracks[entrant]
        return bool(track.laps) if self._live is None else track.has(rounds)

    def _run_live(self, missing: Sequence[Configuration], rounds: int) -> None:
        if self._live is None:
            what = f"{missing[0]} is not recorded, and there is nothing here to run it"
            raise TuningError(what, "replay what was swept, or run it without --replay")
        for entrant, lap in zip(missing, self._live.run(missing, rounds), strict=True):
            self._record.add(entrant, lap)


def _rounds(lap: Lap) -> int:
    return min((len(times) for times in lap.times.values()), default=0)


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise TuningError(f"{path} cannot be read: {error.strerror}", "choose another --cache") from error
    for line in text.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            yield told


def _ends_with_a_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def recorded_setting(path: Path, task: str, candidate: str) -> dict[str, Any] | None:
    """The last setting in the file in which this candidate was tuned for this task, on whatever machine."""
    found = None
    for told in _lines(path):
        setting = told.get("setting")
        if isinstance(setting, dict) and (setting.get("task"), setting.get("candidate")) == (task, candidate):
            found = {name: value for name, value in setting.items() if name != "format"}
    return found
