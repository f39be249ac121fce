"""The race: heats of a few configurations; the slower half of a heat leaves, the others run for twice as long.

Knows configurations and laps. Does not know who lets them run: the judge, or a record of what it measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kernelwright.tuning._form import Form
from kernelwright.tuning._optuna import AUTO, scout_for
from kernelwright.tuning._racer import Racer
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import Configuration

# Who is behind the best by more than this after the first rounds is not worth more of them.
MARGIN = math.log(1.15)
# What of the budget is kept for the last heat, in which the best of all heats meet.
RESERVE = 0.15
FINAL_ROUNDS = 8
# What a configuration that failed is taken for when others are guessed from it: somewhat worse than the worst.
FAILED_BEHIND = 0.1

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a race is run.

    Attributes:
        seconds: What it may take, building and starting included.
        heat: How many run against each other.
        sample: How many are chosen far apart before guesses are made from them.
        rounds: Of the first stretch of a heat; every stretch has twice as many as the one before.
        finalists: How many of the best are worth a judgement in full.
        seed: The same seed and the same laps make the same race.
        sampler: Who says which configurations to try: `own`, `optuna`, or `auto` to go by the size of the space.
    """

    seconds: float = 60.0
    heat: int = 8
    sample: int = 16
    rounds: int = 2
    finalists: int = 3
    seed: int = 0
    sampler: str = AUTO


@dataclass(frozen=True)
class Outcome:
    """What a race came to.

    Attributes:
        forms: All that ran to some end, the fastest first, those that failed last.
        finalists: The fastest over all cases, and the fastest of every case.
        spent: Seconds that it took.
        heats: How many there were.
    """

    forms: tuple[Form, ...]
    finalists: tuple[Configuration, ...]
    spent: float
    heats: int


class Race:
    """One race over one space."""

    def __init__(self, space: Space, racer: Racer, rules: Rules, tell: Tell = lambda _: None) -> None:
        self._space, self._racer, self._rules, self._tell = space, racer, rules, tell
        self._scout = scout_for(rules.sampler, space, rules.seed)
        self._forms: dict[Configuration, Form] = {}
        self._spent = self._spent_on_rounds = 0.0
        self._laps = self._heats = 0
        self._objectives = self._in_turn()

    def run(self) -> Outcome:
        while entrants := self._entrants():
            self._heats += 1
            self._heat(entrants)
            self._say()
        self._last_heat()
        return Outcome(tuple(self._ranked()), tuple(self._finalists()), self._spent, self._heats)

    # Who runs

    def _entrants(self) -> list[Configuration]:
        number = self._affordable()
        if number < 1:
            return []
        if not self._forms:
            start = self._space.starting_point
            return [start, *self._scout.far_apart([start], number - 1)]
        if len(self._forms) < self._rules.sample:
            return self._scout.far_apart(self._forms, min(number, self._rules.sample - len(self._forms)))
        return self._scout.promising(self._scores(next(self._objectives)), number)

    def _affordable(self) -> int:
        """How many more can be tried, going by what a trial has cost so far."""
        if not self._forms:
            return self._rules.heat
        left = self._rules.seconds * (1 - RESERVE) - self._spent
        return min(self._rules.heat, int(left / (self._spent / len(self._forms))))

    def _in_turn(self) -> Iterator[str | None]:
        """Every other heat looks for what is fast on all cases, the others for what is fast on one of them."""
        cases = list(self._racer.weights)
        if len(cases) == 1:
            return itertools.repeat(None)
        return itertools.cycle([each for case in cases for each in (None, case)])

    def _scores(self, case: str | None) -> dict[Configuration, float]:
        ran = {one: form.score(self._racer.weights, case) for one, form in self._forms.items() if form.ran}
        worst = max(ran.values(), default=0.0) + FAILED_BEHIND
        return {one: ran.get(one, worst) for one in self._forms}

    # Running

    def _heat(self, entrants: Sequence[Configuration]) -> None:
        rounds = self._rules.rounds
        while entrants:
            self._let_run(entrants, rounds)
            survivors = self._better_half(entrants)
            entrants = survivors if len(survivors) > 1 and self._left() > 0 else []
            rounds *= 2

    def _let_run(self, entrants: Sequence[Configuration], rounds: int) -> None:
        for entrant, lap in zip(entrants, self._racer.run(entrants, rounds), strict=True):
            self._forms.setdefault(entrant, Form(entrant)).add(lap)
            self._spent += lap.cost
            self._spent_on_rounds += lap.load + lap.run * FINAL_ROUNDS / rounds
            self._laps += 1

    def _left(self) -> float:
        return self._rules.seconds * (1 - RESERVE) - self._spent

    def _better_half(self, entrants: Sequence[Configuration]) -> list[Configuration]:
        """Those among the better half on all cases or on one, as far as they are near the best of all heats."""
        places = dict.fromkeys(entrants, math.inf)
        for case in self._orders():
            best = self._best(case)
            ran = [entrant for entrant in entrants if self._forms[entrant].ran]
            near = [one for one in ran if self._score(one, case) <= best + MARGIN]
            for place, one in enumerate(sorted(near, key=lambda one: self._score(one, case))):
                places[one] = min(places[one], place)
        ranked = sorted((one for one in entrants if places[one] < math.inf), key=lambda one: places[one])
        return ranked[: len(entrants) // 2]

    def _last_heat(self) -> None:
        """The best of all heats run against each other, at the same time, for longer."""
        ran = [form.configuration for form in self._ranked() if form.ran]
        mean = self._spent_on_rounds / max(1, self._laps)
        affordable = int((self._rules.seconds - self._spent) / mean) if mean else 0
        leaders = list(dict.fromkeys([*ran[: 2 * self._rules.finalists], *self._leaders()]))[:affordable]
        if len(leaders) > 1:
            self._let_run(leaders, FINAL_ROUNDS)

    # How they did

    def _orders(self) -> list[str | None]:
        cases = list(self._racer.weights)
        return [None] if len(cases) == 1 else [None, *cases]

    def _score(self, configuration: Configuration, case: str | None) -> float:
        return self._forms[configuration].score(self._racer.weights, case)

    def _best(self, case: str | None) -> float:
        return min((self._score(one, case) for one, form in self._forms.items() if form.ran), default=math.inf)

    def _ranked(self) -> list[Form]:
        ran = sorted((f for f in self._forms.values() if f.ran), key=lambda f: f.score(self._racer.weights))
        return [*ran, *(form for form in self._forms.values() if not form.ran)]

    def _leaders(self) -> list[Configuration]:
        """The fastest of every case."""
        ran = [form.configuration for form in self._forms.values() if form.ran]
        return [min(ran, key=lambda one: self._score(one, case)) for case in self._orders()] if ran else []

    def _finalists(self) -> list[Configuration]:
        ran = [form.configuration for form in self._ranked() if form.ran]
        return list(dict.fromkeys([*ran[: self._rules.finalists], *self._leaders()]))

    def _say(self) -> None:
        ran = [form for form in self._ranked() if form.ran]
        best = f"best {ran[0].configuration}" if ran else "none has run yet"
        self._tell(f"heat {self._heats}: {len(self._forms)} of {len(self._space)} tried, {self._spent:.1f} s; {best}")


def sweep(space: Space, racer: Racer, *, heat: int, rounds: int, tell: Tell = lambda _: None) -> float:
    """Lets every configuration run, and says how long that took: what a race is held against."""
    spent = 0.0
    for start in range(0, len(space), heat):
        laps = racer.run(space.configurations[start : start + heat], rounds)
        spent += sum(lap.cost for lap in laps)
        tell(f"{min(start + heat, len(space))} of {len(space)} swept, {spent:.1f} s")
    return spent
