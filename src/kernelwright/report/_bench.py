"""A suite judged: results by problem, and what they come to over the full and over the clean set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelwright.report import _metrics as metrics
from kernelwright.report._attempt import Attempt, Fate
from kernelwright.report._metrics import Estimate, Outcome


@dataclass(frozen=True)
class Result:
    """One problem and the samples that tried it."""

    problem: str
    title: str
    attempts: tuple[Attempt, ...] = ()

    @property
    def accepted(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.fate is Fate.ACCEPTED)

    @property
    def judged(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.fate is not Fate.UNJUDGED)

    @property
    def fate(self) -> Fate:
        """Solved by one sample is solved. Where nothing could be judged, nothing is said."""
        fates = {attempt.fate for attempt in self.attempts}
        for fate in (Fate.ACCEPTED, Fate.REJECTED, Fate.WEAK, Fate.UNJUDGED):
            if fate in fates:
                return fate
        return Fate.MISSING

    def best(self, baseline: str) -> Attempt | None:
        """The fastest accepted sample; where none was timed the first; else the first that decided the fate."""
        timed = [attempt for attempt in self.accepted if baseline in attempt.ratios]
        if timed:
            return max(timed, key=lambda attempt: attempt.ratios[baseline].value)
        return next((attempt for attempt in self.attempts if attempt.fate is self.fate), None)

    def outcome(self, chosen_by: str, baseline: str) -> Outcome:
        best = self.best(chosen_by) if self.fate is Fate.ACCEPTED else None
        ratio = best.ratios.get(baseline) if best else None
        return Outcome(self.fate is Fate.ACCEPTED, ratio.value if ratio else None)


@dataclass(frozen=True)
class Bench:
    """Everything a report is made of.

    Attributes:
        flagged: Flags by problem, from a quality file; None where none was given.
        context: Where and when: suite, version, machine, settings. Written down as it is.
    """

    results: tuple[Result, ...]
    baselines: tuple[str, ...]
    flagged: Mapping[str, tuple[str, ...]] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)

    def full(self) -> tuple[Result, ...]:
        return self.results

    def clean(self) -> tuple[Result, ...]:
        """Without problems that a quality file flags, and without those the judge itself refused as weak."""
        known = self.flagged or {}
        return tuple(result for result in self.results if result.problem not in known and result.fate is not Fate.WEAK)


@dataclass(frozen=True)
class Speed:
    """Speedups against one baseline. In `median` and `mean` a failure counts as keeping the original, 1.0."""

    fast: Mapping[float, Estimate | None]
    median: Estimate | None
    mean: Estimate | None
    median_of_solved: Estimate | None
    mean_of_solved: Estimate | None
    untimed: int


@dataclass(frozen=True)
class Summary:
    """A set of problems in numbers. Problems that could not be judged are in `fates` and in nothing else."""

    problems: int
    fates: Mapping[Fate, int]
    correctness: Estimate | None
    speed: Mapping[str, Speed]
    pass_at: Mapping[int, Estimate | None]


def summarise(results: Sequence[Result], baselines: Sequence[str]) -> Summary:
    counted = [result for result in results if result.fate is not Fate.UNJUDGED]
    fates = Counter(result.fate for result in results)
    solved = [Outcome(result.fate is Fate.ACCEPTED) for result in counted]
    return Summary(
        problems=len(results),
        fates={fate: fates[fate] for fate in Fate if fates[fate]},
        correctness=metrics.correctness(solved),
        speed={name: _speed([result.outcome(baselines[0], name) for result in counted]) for name in baselines},
        pass_at=_pass_at(counted),
    )


def _speed(outcomes: list[Outcome]) -> Speed:
    return Speed(
        fast={threshold: metrics.fast(outcomes, threshold) for threshold in metrics.THRESHOLDS},
        median=metrics.kept(outcomes, np.median),
        mean=metrics.kept(outcomes, metrics.geometric_mean),
        median_of_solved=metrics.of_solved(outcomes, np.median),
        mean_of_solved=metrics.of_solved(outcomes, metrics.geometric_mean),
        untimed=sum(outcome.untimed for outcome in outcomes),
    )


def _pass_at(results: list[Result]) -> dict[int, Estimate | None]:
    """A problem without a solution passes at no k."""
    counts = [(len(result.judged), len(result.accepted)) for result in results]
    return {
        k: metrics.estimate([metrics.pass_at(n, right, k) if n else 0.0 for n, right in counts], np.mean)
        for k in metrics.usable_k(n for n, _ in counts)
    }
