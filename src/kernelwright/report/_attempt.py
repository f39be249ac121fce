"""One sample of one problem, from the records of its verdicts.

A problem with variants has one record for each: the attempt is accepted where all are, and its speedup is their
geometric mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from math import exp, fsum, log
from typing import Any

Record = Mapping[str, Any]


class Fate(StrEnum):
    """What became of a sample or a problem."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WEAK = "weak problem"
    UNJUDGED = "not judged"
    MISSING = "no solution"


@dataclass(frozen=True)
class Ratio:
    """A speedup with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One sample.

    Attributes:
        status: The judge's word; of several variants the first that is not accepted.
        ratios: Speedup by baseline; empty unless accepted and timed.
        flaws: Weaknesses of the problem, where the judge refused it for them.
        changes: How the task was shrunk to the machine.
    """

    problem: str
    sample: int
    file: str
    fate: Fate
    status: str
    message: str
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    flaws: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


# Of several variants the gravest decides.
_GRAVITY = (Fate.REJECTED, Fate.WEAK, Fate.UNJUDGED, Fate.ACCEPTED)


def attempts(records: Iterable[Record]) -> list[Attempt]:
    """The attempts that the records tell of."""
    ordered = sorted(records, key=_identity)
    return [_attempt(list(group)) for _, group in groupby(ordered, key=_identity)]


def _identity(record: Record) -> tuple[str, int]:
    return record["problem"], record["sample"]


def _attempt(records: list[Record]) -> Attempt:
    decisive = min(records, key=lambda record: _GRAVITY.index(Fate(record["fate"])))
    fate = Fate(decisive["fate"])
    return Attempt(
        problem=decisive["problem"],
        sample=decisive["sample"],
        file=decisive["file"],
        fate=fate,
        status=decisive["status"],
        message=decisive["message"],
        ratios=_ratios(records) if fate is Fate.ACCEPTED else {},
        flaws=tuple(dict.fromkeys(flaw for record in records for flaw in record["flaws"])),
        changes=tuple(dict.fromkeys(change for record in records for change in record["changes"])),
    )


def _ratios(records: list[Record]) -> dict[str, Ratio]:
    """Baselines that every variant was timed against."""
    names = [name for name in records[0]["speedup"] if all(name in record["speedup"] for record in records)]
    return {name: _combined([record["speedup"][name] for record in records]) for name in names}


def _combined(speedups: list[Mapping[str, float]]) -> Ratio:
    def mean(key: str) -> float:
        return exp(fsum(log(speedup[key]) for speedup in speedups) / len(speedups))

    return Ratio(mean("ratio"), mean("low"), mean("high"))
