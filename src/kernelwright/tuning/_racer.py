"""Who lets configurations run: the judge on this machine, or a record of what it measured before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kernelwright.tuning._template import Configuration

Times = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Lap:
    """What became of one configuration in some rounds.

    Attributes:
        times: Seconds of its calls, by case, one a round; empty where it failed.
        pace: Those of the pacemaker in the same rounds. The ratio is what counts: a machine that is slow for a while is
            slow for both.
        failure: Why it has no times, in one sentence.
        build, load, run: Seconds that it took to compile it, to start and check it, and to time it.
        whole: Whether its rounds cannot be had for a share of its price: those of a judgement in full.
    """

    times: Times = field(default_factory=dict)
    pace: Times = field(default_factory=dict)
    failure: str = ""
    build: float = 0.0
    load: float = 0.0
    run: float = 0.0
    whole: bool = False

    @property
    def cost(self) -> float:
        return self.build + self.load + self.run

    def to_json(self) -> dict[str, Any]:
        spent = {"build": round(self.build, 6), "load": round(self.load, 6), "run": round(self.run, 6)}
        if self.failure:
            return {"failure": self.failure, **spent}
        whole = {"whole": True} if self.whole else {}
        return {"times": _rounded(self.times), "pace": _rounded(self.pace), **spent, **whole}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Lap:
        """What `to_json` told."""
        times, pace = ({case: tuple(each) for case, each in told.get(name, {}).items()} for name in ("times", "pace"))
        spent = {name: float(told[name]) for name in ("build", "load", "run")}
        whole = bool(told.get("whole"))
        return cls(times=times, pace=pace, failure=str(told.get("failure", "")), whole=whole, **spent)


class Racer(Protocol):
    """Lets configurations run side by side.

    Attributes:
        weights: The cases that are timed, and how much each matters.
    """

    @property
    def weights(self) -> Mapping[str, float]: ...

    def run(self, entrants: Sequence[Configuration], rounds: int) -> list[Lap]:
        """So many more rounds of every case for each of them, in turns; one lap for each, in the same order."""
        ...


def _rounded(times: Times) -> dict[str, list[float]]:
    """Nanoseconds are beyond any clock here."""
    return {case: [round(seconds, 9) for seconds in each] for case, each in times.items()}
