"""Tuning from end to end: the candidate as written is judged, its configurations race, the finalists are judged."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernelwright.judge import Judge, Verdict, source_hash
from kernelwright.tasks import Task
from kernelwright.tuning._dispatcher import dispatcher
from kernelwright.tuning._error import TuningError
from kernelwright.tuning._live import PACEMAKER, live_racer, samples, weights_of
from kernelwright.tuning._optuna import AUTO, OWN, chosen_sampler
from kernelwright.tuning._race import Outcome, Race, Rules, Tell
from kernelwright.tuning._record import Record, Recorded, recorded_setting
from kernelwright.tuning._setting import setting_here
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import Configuration, Template, read_template

# By how much another configuration must be ahead on a case before it is worth a dispatcher.
AHEAD = math.log(1.03)


@dataclass(frozen=True)
class Judged:
    """A text before the judge: a finalist, or the dispatcher between some."""

    name: str
    text: str
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """How many times as fast as eager PyTorch, over all cases; 0 where it is not accepted."""
        found = self.verdict.speedup.get(PACEMAKER) if self.verdict.accepted else None
        return found["ratio"] if found else 0.0

    def to_json(self) -> dict[str, Any]:
        told = {"name": self.name, "status": str(self.verdict.status), "message": self.verdict.message}
        if not self.ratio:
            return told
        return {**told, "time_ms": self.verdict.time_ms["candidate"], "speedup": self.verdict.speedup[PACEMAKER]}


@dataclass(frozen=True)
class Tuned:
    """What tuning came to.

    Attributes:
        space: How large it is, before and after constraints.
        as_written: The candidate with its defaults.
        finalists: Judged in full, the fastest first.
        best: The fastest of all: a finalist, the dispatcher, or the candidate as written.
        winners: The fastest finalist of every case.
        said: What else there is to say.
    """

    template: Template
    space: Space
    outcome: Outcome
    as_written: Judged
    finalists: tuple[Judged, ...]
    best: Judged
    winners: Mapping[str, str]
    said: tuple[str, ...]
    replayed: int
    weights: Mapping[str, float]

    @property
    def gain(self) -> float:
        """How many times as fast as written."""
        return self.best.ratio / self.as_written.ratio

    def to_json(self) -> dict[str, Any]:
        return {
            "space": {"combinations": self.space.combinations, "configurations": len(self.space)},
            "race": {
                "tried": len(self.outcome.forms),
                "heats": self.outcome.heats,
                "seconds": self.outcome.spent,
                "laps_from_the_cache": self.replayed,
                "standings": [form.to_json(self.weights) for form in self.outcome.forms],
            },
            "as_written": self.as_written.to_json(),
            "finalists": [finalist.to_json() for finalist in self.finalists],
            "best": self.best.to_json(),
            "winners_by_case": dict(self.winners),
            "gain": self.gain,
            "said": list(self.said),
        }


class Rejected(Exception):
    """The candidate as written is not accepted, so there is nothing to tune."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


def tune(
    task: Task,
    source: str,
    *,
    judge: Judge | None,
    cache: Path,
    rules: Rules,
    tell: Tell = lambda _: None,
) -> Tuned:
    """Finds the configuration of a candidate that is fastest here.

    Args:
        judge: None to replay what the cache holds, on whatever machine it was measured.
        cache: The append-only file that is log, resume point and replay source.

    Raises:
        TuningError: Where there is nothing to tune, or nothing to replay.
        Rejected: Where the candidate is not accepted as written.
    """
    template = read_template(source)
    setting = setting_here(task, source) if judge else _recorded(cache, task, source)
    space = Space(template, setting["limits"])
    court = _Court(judge, task, Record(cache, setting))
    rules = _settled(rules, space, court.record, live=judge is not None)
    as_written = court.as_written(space)
    if not as_written.ratio:
        raise Rejected(as_written.verdict)
    live = live_racer(judge, task, template, space.starting_point) if judge else None
    racer = Recorded(court.record, weights_of(task), live)
    outcome = Race(space, racer, rules, tell).run()
    return _Finals(court, template, space, outcome, as_written).tuned(racer)


def _settled(rules: Rules, space: Space, record: Record, *, live: bool) -> Rules:
    """Who says which configurations to try, once and for all: whoever goes on or repeats asks the same."""
    if not live:
        return replace(rules, sampler=record.sampler or OWN)
    sampler = record.sampler if rules.sampler == AUTO and record.sampler else chosen_sampler(rules.sampler, space)
    if sampler != record.sampler:
        record.add_sampler(sampler)
    return replace(rules, sampler=sampler)


def _recorded(cache: Path, task: Task, source: str) -> dict[str, Any]:
    setting = recorded_setting(cache, task.hash, source_hash(source))
    if setting is None:
        raise TuningError(f"{cache} holds nothing of this candidate on this task", "tune it first, without --replay")
    return setting


class _Court:
    """Verdicts: those recorded, and the judge's, recorded before they are used."""

    def __init__(self, judge: Judge | None, task: Task, record: Record) -> None:
        self._judge, self.task, self.record = judge, task, record

    def heard(self, configuration: Configuration, template: Template) -> Judged:
        return self.hear(str(configuration), template.text(configuration))

    def as_written(self, space: Space) -> Judged:
        """The source itself; where a limit of this machine rules its values out, the configuration that stands in."""
        start, template = space.starting_point, space.template
        if start != template.default:
            return self.heard(start, template)
        return self.hear("chosen by Triton itself" if template.autotuned else str(start), template.source)

    def hear(self, name: str, text: str) -> Judged:
        verdict = self.record.verdicts.get(source_hash(text))
        if verdict is None:
            if self._judge is None:
                raise TuningError(f"no verdict on {name} is recorded", "run it to the end first, without --replay")
            verdict = self._judge.judge(self.task, text)
            self.record.add_verdict(verdict)
        return Judged(name, text, verdict)


class _Finals:
    """The best of the race before the judge."""

    def __init__(self, court: _Court, template: Template, space: Space, outcome: Outcome, as_written: Judged) -> None:
        self._court, self._template, self._space, self._outcome = court, template, space, outcome
        self._as_written = as_written
        self._said: list[str] = []

    def tuned(self, racer: Recorded) -> Tuned:
        finalists = self._judged()
        accepted = {one: judged for one, judged in finalists.items() if judged.ratio}
        verdicts = {one: judged.verdict for one, judged in accepted.items()}
        winners = {case: _fastest(verdicts, case) for case in racer.weights}
        entrants = [self._as_written, *accepted.values(), *self._dispatched(verdicts)]
        return Tuned(
            template=self._template,
            space=self._space,
            outcome=self._outcome,
            as_written=self._as_written,
            finalists=tuple(sorted(finalists.values(), key=lambda judged: -judged.ratio)),
            best=max(entrants, key=lambda judged: judged.ratio),
            winners={case: str(one) for case, one in winners.items()},
            said=tuple(self._said),
            replayed=racer.replayed,
            weights=racer.weights,
        )

    def _judged(self) -> dict[Configuration, Judged]:
        """The finalists and, so that nothing is made slower, the candidate as written.

        Where Triton would choose for itself as written, its first configuration alone is another text.
        """
        start = self._space.starting_point
        return {one: self._court.heard(one, self._template) for one in dict.fromkeys([start, *self._outcome.finalists])}

    def _dispatched(self, verdicts: Mapping[Configuration, Verdict]) -> Sequence[Judged]:
        """A text that chooses by the case, where one configuration does not win everywhere."""
        overall, better = better_by_case(verdicts, [case.name for case in self._court.task.cases])
        if not better:
            return []
        try:
            text = dispatcher(self._template, overall, better, self._court.task)
        except TuningError as error:
            self._said.append(f"no configuration is fastest on every case, and none can choose: {error}; {error.fix}")
            return []
        return [self._court.hear("chosen by the case", text)]


def better_by_case(
    verdicts: Mapping[Configuration, Verdict], cases: Sequence[str]
) -> tuple[Configuration, dict[str, Configuration]]:
    """The fastest over all cases, and whoever is well ahead of it on one of them; all are accepted and timed."""
    overall = max(verdicts, key=lambda one: verdicts[one].speedup[PACEMAKER]["ratio"])
    if len(cases) == 1:
        return overall, {}
    winners = {case: _fastest(verdicts, case) for case in cases}
    return overall, {case: one for case, one in winners.items() if _lead(verdicts, one, overall, case) > AHEAD}


def _fastest(verdicts: Mapping[Configuration, Verdict], case: str) -> Configuration:
    return max(verdicts, key=lambda one: _log_speedup(verdicts[one], case))


def _lead(verdicts: Mapping[Configuration, Verdict], one: Configuration, other: Configuration, case: str) -> float:
    first, second = (_log_speedup(verdicts[each], case) for each in (one, other))
    return first - second


def _log_speedup(verdict: Verdict, case: str) -> float:
    """Over eager, which was timed in the same rounds."""
    mine, eager = (samples(verdict, name)[case] for name in ("candidate", PACEMAKER))
    return statistics.median(math.log(theirs / own) for theirs, own in zip(eager, mine, strict=True))
