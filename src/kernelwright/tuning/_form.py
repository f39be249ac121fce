"""How a configuration has done so far."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelwright.tuning._racer import Lap
from kernelwright.tuning._template import Configuration


@dataclass
class Form:
    """Its rounds so far: by case, the seconds of its calls and the log of their ratio to the pacemaker's."""

    configuration: Configuration
    seconds: dict[str, list[float]] = field(default_factory=dict)
    logs: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""

    def add(self, lap: Lap) -> None:
        self.failure = self.failure or lap.failure
        for case, times in lap.times.items():
            self.seconds.setdefault(case, []).extend(times)
            logs = [math.log(own / pace) for own, pace in zip(times, lap.pace[case], strict=True)]
            self.logs.setdefault(case, []).extend(logs)

    @property
    def ran(self) -> bool:
        return not self.failure

    @property
    def rounds(self) -> int:
        return min((len(logs) for logs in self.logs.values()), default=0)

    def score(self, weights: Mapping[str, float], case: str | None = None) -> float:
        """The log of its time over the pacemaker's, of one case or of all by their weights. Smaller is faster."""
        if case is not None:
            return statistics.median(self.logs[case])
        total = sum(weights.values())
        return sum(weight * statistics.median(self.logs[name]) for name, weight in weights.items()) / total

    def to_json(self, weights: Mapping[str, float]) -> dict[str, Any]:
        if not self.ran:
            return {"configuration": self.configuration.to_json(), "failure": self.failure}
        return {
            "configuration": self.configuration.to_json(),
            "rounds": self.rounds,
            "ratio": math.exp(self.score(weights)),
            "ratio_by_case": {case: math.exp(self.score(weights, case)) for case in weights},
            "time_ms": {case: statistics.median(times) * 1e3 for case, times in self.seconds.items()},
        }
