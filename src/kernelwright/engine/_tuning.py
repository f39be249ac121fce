"""The last phase of a search: the best kernels that declare parameters have their values raced, where they are judged.

It has a budget of its own. Which kernels it is about and what a race came to are in the store before anything is made
of it: killed at any moment, it goes on where it was, and a replay needs no machine. Whoever a race sends to the judge
is a candidate like any other, with the kernel it was made of as its parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kernelwright.archive import WITHIN, Archive, Choice, Entry
from kernelwright.engine._docket import Docket
from kernelwright.engine._past import Past
from kernelwright.fleet import Fleet, Job, Result
from kernelwright.judge import Verdict, source_hash
from kernelwright.tasks import Task
from kernelwright.tuning import (
    Configuration,
    Template,
    TuningError,
    better_by_case,
    dispatcher,
    is_template,
    read_template,
)

# Events in the store: what the phase is about, and what came of each race.
BEGUN, RACED = "tuning", "race"


@dataclass(frozen=True, kw_only=True)
class TuningBudget:
    """What the phase may spend, beside the budget of the search.

    Attributes:
        seconds: Of racing, over all kernels together.
        kernels: How many of the best are raced.
        finalists: How many of each are judged in full.
    """

    seconds: float = 20.0
    kernels: int = 2
    finalists: int = 2

    def __post_init__(self) -> None:
        for name, most in asdict(self).items():
            if not most > 0:
                raise ValueError(f"tuning with {name} of {most:g} is nothing; give more, or leave out tuning")


@dataclass(frozen=True)
class Finalist:
    """A text for the judge, and what it came of."""

    source: str
    came_of: Choice

    @property
    def candidate(self) -> str:
        return source_hash(self.source)


class Tuning:
    """The phase of one run.

    Args:
        budget: None where there is no such phase.
    """

    def __init__(
        self, fleet: Fleet, docket: Docket, past: Past, task: Task, budget: TuningBudget | None, seed: int
    ) -> None:
        self._fleet, self._docket, self._past, self._task = fleet, docket, past, task
        self._budget, self._seed = budget, seed
        self._under_way: Job | None = None
        begun = next(past.events(BEGUN), None)
        self._about: list[dict[str, Any]] | None = begun["kernels"] if begun else None
        self.reason: str | None = begun["reason"] if begun else None
        self._races = {told["candidate"]: told["race"] for told in past.events(RACED)}

    @property
    def awaited(self) -> bool:
        return self._under_way is not None

    def begin(self, archive: Archive, reason: str) -> list[Entry]:
        """The kernels to race, the best first; the same ones as before where the run was left meanwhile.

        `reason`: why the search has ended. It stays so, whatever is found now.
        """
        if self._budget is None:
            return []
        if self._about is None:
            found = list(self._worth_it(archive))[: self._budget.kernels]
            self._about, self.reason = [entry.to_json() for entry in found], reason
            if found:
                self._past.note(BEGUN, {"kernels": self._about, "reason": reason})
        return [Entry.from_json(told) for told in self._about]

    def _worth_it(self, archive: Archive) -> Iterator[Entry]:
        for elite in sorted(archive.elites.values(), key=lambda elite: -elite.log_speedup):
            if _template(self._past.source(elite.candidate)) is not None:
                yield elite

    # The race

    def start(self, elite: Entry) -> None:
        """Sends it off, unless it is known how it ended."""
        assert self._budget is not None
        assert self._about is not None
        if elite.candidate not in self._races:
            seconds = self._budget.seconds / len(self._about)
            rules = {"seconds": seconds, "finalists": self._budget.finalists, "seed": self._seed}
            source = self._past.source(elite.candidate)
            self._under_way = self._docket.job(elite.candidate, source, race=rules)
            self._fleet.submit(self._under_way)

    def take(self, result: Result) -> dict[str, Any] | None:
        """What is told of a race, where this is the end of one; it is kept, and why there was none too."""
        if self._under_way is None or result.job != self._under_way.name or result.kind.goes_on:
            return None
        found = result.race or {"absent": result.reason}
        self._under_way = None
        self._races[result.candidate] = found
        self._past.note(RACED, {"candidate": result.candidate, "race": found})
        return {"candidate": result.candidate, **found}

    # What goes to the judge

    def finalists(self, elite: Entry) -> list[Finalist]:
        """The fastest of the race but the kernel itself."""
        source = self._past.source(elite.candidate)
        template = _template(source)
        if template is None:
            return []
        found = [
            _finalist(elite, template.text(one), f"its parameters were raced: {one}") for one in self._raced(elite)
        ]
        return [finalist for finalist in found if finalist.source != source]

    def _raced(self, elite: Entry) -> list[Configuration]:
        told = self._races.get(elite.candidate, {})
        return [Configuration.from_json(one) for one in told.get("finalists", [])]

    def dispatched(self, elite: Entry) -> list[Finalist]:
        """A text that chooses by the case, where no finalist is the fastest on all."""
        template = _template(self._past.source(elite.candidate))
        if template is None or len(self._task.cases) == 1:
            return []
        verdicts = dict(self._verdicts(template, [template.default, *self._raced(elite)]))
        if len(verdicts) < 2:
            return []
        overall, better = better_by_case(verdicts, [case.name for case in self._task.cases])
        try:
            text = dispatcher(template, overall, better, self._task) if better else ""
        except TuningError:
            return []  # it does not say what tells the cases apart
        return [_finalist(elite, text, "its parameters were raced: chosen by the case")] if text else []

    def _verdicts(self, template: Template, chosen: Sequence[Configuration]) -> Iterator[tuple[Configuration, Verdict]]:
        for one in dict.fromkeys(chosen):
            told = self._past.verdict(source_hash(template.text(one)))
            if told is not None and told["accepted"] and told["speedup"]:
                yield one, Verdict.from_json(told)


def _template(source: str) -> Template | None:
    """None where there is nothing to choose between, or it is declared badly, which its author is not asked about."""
    if not is_template(source):
        return None
    try:
        found = read_template(source)
    except TuningError:
        return None
    return found if any(len(parameter.choices) > 1 for parameter in found.parameters) else None


def _finalist(elite: Entry, source: str, why: str) -> Finalist:
    return Finalist(source, Choice(elite.candidate, elite.cell, WITHIN, why, elite.log_speedup))
