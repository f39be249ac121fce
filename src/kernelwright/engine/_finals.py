"""The end of a run: the best kernel is measured once more, on inputs that nobody has seen.

The largest of many measurements is a lucky one. What is reported is what was found then, by a judge with a new secret
seed and against every baseline asked for; where the best does not stay ahead of what the next is known for, the next is
measured too, and the faster of them is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernelwright.archive import Archive, Entry
from kernelwright.engine._docket import Docket
from kernelwright.engine._past import Past
from kernelwright.engine._verdicts import entry_of
from kernelwright.fleet import Fleet, Job, Kind
from kernelwright.store import FINAL

PATIENCE_SECONDS = 1.0
# So many are measured at most, if one of them is right: behind them lie hardly better ones.
MOST = 4
LETTERS = 10


@dataclass(frozen=True)
class Winner:
    """The best kernel as it was measured at the end.

    Attributes:
        entry: What it is worth by that measurement, over its baseline.
        job: The measurement. `verdict`: what it found, for all baselines.
        said: Sentences on those that were measured before it and did not hold.
    """

    entry: Entry
    job: str
    verdict: dict[str, Any]
    said: tuple[str, ...] = ()

    @property
    def candidate(self) -> str:
        return self.entry.candidate

    def to_json(self) -> dict[str, Any]:
        return {"candidate": self.candidate, "entry": self.entry.to_json(), "job": self.job, "said": list(self.said)}


@dataclass(frozen=True)
class Trial:
    """One elite, measured again; `entry` is None where it was not accepted then."""

    elite: Entry
    job: Job
    verdict: dict[str, Any]

    @property
    def entry(self) -> Entry | None:
        return entry_of(self.elite.candidate, self.elite.cell, self.verdict)

    @property
    def _over(self) -> str:
        return next(iter(self.verdict["speedup"]), "eager")

    @property
    def sentence(self) -> str:
        name = f"{self.elite.candidate[:LETTERS]}, {self.elite.speed} {self._over} in the search,"
        if self.entry is None:
            status, message = self.verdict["status"], self.verdict["message"]
            return f"{name} was not accepted when it was judged again: {status}, {message}"
        return f"{name} has {self.entry.speed} when it is measured again, and is not the best"


class Finals:
    """Measures the best again. What was measured before the run was left is not measured twice."""

    def __init__(self, fleet: Fleet, docket: Docket, past: Past, baselines: tuple[str, ...]) -> None:
        self._fleet, self._docket, self._past, self._baselines = fleet, docket, past, baselines

    def play(self, archive: Archive, tell: Callable[[Entry], None]) -> Winner | tuple[str, ...]:
        """Who held; where nobody did, what is to be said of them. `tell`: called before each measurement."""
        ranked = sorted(archive.elites.values(), key=lambda elite: -elite.log_speedup)
        trials: list[Trial] = []
        for elite in ranked:
            if _is_settled(trials, elite):
                break
            trials.append(self._trial(elite, tell))
        return self._ended(_best(trials), trials)

    def _ended(self, best: Trial | None, trials: list[Trial]) -> Winner | tuple[str, ...]:
        said = tuple(trial.sentence for trial in trials if trial is not best)
        if best is None or best.entry is None:
            self._note({"candidate": None, "said": list(said)}, anything=bool(trials))
            return said
        winner = Winner(best.entry, best.job.name, best.verdict, said)
        self._note(winner.to_json(), anything=True)
        return winner

    def _note(self, told: dict[str, Any], *, anything: bool) -> None:
        """Once, however often the run is gone on with."""
        noted = [before.get("job") for before in self._past.events(FINAL)]
        if anything and told.get("job") not in noted:
            self._past.note(FINAL, told)

    def _trial(self, elite: Entry, tell: Callable[[Entry], None]) -> Trial:
        source = self._past.source(elite.candidate)
        job = self._docket.job(elite.candidate, source, baselines=self._baselines, final=True)
        verdict = self._past.kept(job.candidate, job.name)
        if verdict is None:
            tell(elite)
            self._docket.submit(job)
            verdict = self._awaited(job)
        return Trial(elite, job, verdict)

    def _awaited(self, job: Job) -> dict[str, Any]:
        while True:
            for result in self._fleet.finished(PATIENCE_SECONDS):
                if result.kind.goes_on or self._docket.take(result) is None:
                    continue  # a profile that nobody needs any more
                if result.kind is not Kind.INFRA:
                    return self._past.keep(result).verdict
                self._docket.retry(job, result.reason)


def _best(trials: list[Trial]) -> Trial | None:
    held = [(trial.entry.log_speedup, trial) for trial in trials if trial.entry is not None]
    return max(held, key=lambda pair: pair[0])[1] if held else None


def _is_settled(trials: list[Trial], following: Entry) -> bool:
    """Whether the best of those measured is ahead of what the next is known for."""
    best = _best(trials)
    if best is None or best.entry is None:
        return False
    return best.entry.log_speedup > following.log_speedup or len(trials) >= MOST
