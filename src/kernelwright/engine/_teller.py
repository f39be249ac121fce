"""What a run tells about itself while it goes on, in plain values: docs/events.md says what each means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from kernelwright.archive import Archive, Cell, Entry
from kernelwright.engine._budget import Budget, forecast
from kernelwright.engine._settings import Tell
from kernelwright.propose import Reply, Request
from kernelwright.store import Spent

Told = dict[str, Any]
OF_A_REPLY = ("model", "tokens_in", "tokens_out", "dollars", "seconds", "finish")


class Teller:
    """Puts what happens in a run into words that others read."""

    def __init__(self, tell: Tell, budget: Budget, *, over: str = "eager") -> None:
        """`over`: the baseline that speedups are told over."""
        self._tell, self._budget, self._over = tell, budget, over
        self._elites: dict[Cell, Entry] = {}
        self._last: tuple[object, ...] = ()

    def asked(self, request: Request, parent: str | None) -> None:
        self._tell("asked", {"request": request.id, "kind": request.kind, "parent": parent})

    def answered(self, request: Request, reply: Reply) -> None:
        self._tell("answered", {"request": request.id, **{name: getattr(reply, name) for name in OF_A_REPLY}})

    def judged(self, number: int, candidate: str, cell: Cell, verdict: Mapping[str, Any], kernel: Entry | None) -> None:
        """`number` counts what has been judged in this run, also before it was resumed."""
        said = {"status": str(verdict["status"]), "message": str(verdict["message"])}
        told = {"number": number, "candidate": candidate, "cell": list(cell), **said, **_interval(kernel, self._over)}
        self._tell("judged", told)

    def settled(self, elite: Entry, challenger: Entry, won: bool) -> None:
        """A contest for a cell; both as they were measured again."""
        self._tell("settled", {"elite": self._told(elite), "challenger": self._told(challenger), "won": won})

    def final(self, elite: Entry) -> None:
        """It is measured once more, at the end."""
        self._tell("final", self._told(elite))

    def stands(self, archive: Archive, spent: Spent, *, asking: int, judging: int) -> None:
        """How the run stands, and which cells have another elite; nothing where only time has passed."""
        self._tell_elites(archive)
        best, filled = archive.best, len(archive.elites)
        now = (best, filled, replace(spent, wall_seconds=0.0), asking, judging)
        if now == self._last:
            return
        self._last = now
        ahead = forecast(self._budget, spent)
        found = {"best": self._told(best) if best else None, "filled": filled}
        costs = {"spent": asdict(spent), "forecast": asdict(ahead) if ahead else None}
        self._tell("stands", {**found, **costs, "asking": asking, "judging": judging})

    def _tell_elites(self, archive: Archive) -> None:
        for cell, elite in archive.elites.items():
            if self._elites.get(cell) != elite:
                self._elites[cell] = elite
                self._tell("elite", self._told(elite))

    def _told(self, kernel: Entry) -> Told:
        return as_told(kernel, self._over)


def as_told(kernel: Entry, over: str = "eager") -> Told:
    """An accepted kernel, with its speedup over the baseline and not the log of it."""
    return {"candidate": kernel.candidate, "cell": list(kernel.cell), **_interval(kernel, over)}


def _interval(kernel: Entry | None, over: str) -> Told:
    if kernel is None:
        return {"over": over, **dict.fromkeys(("speedup", "low", "high"))}
    return {
        "over": over,
        "speedup": math.exp(kernel.log_speedup),
        "low": math.exp(kernel.low),
        "high": math.exp(kernel.high),
    }
