"""How a run is made, and the errors that end it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kernelwright.engine._budget import Budget
from kernelwright.engine._stop import StopRules

LANES = 4

Tell = Callable[[str, dict[str, Any]], None]


class RunError(Exception):
    """The run cannot go on: what happened, and what to do next."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


class UnwritableError(RunError):
    """Whoever writes cannot write this task. Going on would end here again; another may be able to."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run is made.

    `lanes`: how many requests may be under way at once. `devices`: the first is what the search is about, and what is
    right there is judged on the others too; wherever the fleet likes if there are none.
    """

    backend: str
    budget: Budget
    rules: StopRules = field(default_factory=StopRules)
    lanes: int = LANES
    seed: int = 0
    limits: dict[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ()

    @property
    def device(self) -> str | None:
        return self.devices[0] if self.devices else None
