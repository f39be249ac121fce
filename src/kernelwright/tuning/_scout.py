"""Who runs next: at first those that lie far from each other, then those that promise most."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from kernelwright.tuning._guess import Guess
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import Configuration

POOL, LARGEST_POOL, LEADERS = 64, 512, 4


class Scout:
    """Proposes configurations of one space that were not tried."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._random = space, random.Random(seed)
        parameters = space.template.parameters
        self._sizes = [len(parameter.choices) for parameter in parameters]
        self._guess = Guess(self._sizes, [parameter.ordered for parameter in parameters])

    def far_apart(self, tried: Collection[Configuration], number: int) -> list[Configuration]:
        """Each of them far from those tried and from the ones before it."""
        known = [self._space.places(configuration) for configuration in tried]
        untried = self._untried(tried)
        found: list[Configuration] = []
        while untried and len(found) < number:
            pool = self._random.sample(untried, min(POOL, len(untried)))
            pick = max(pool, key=lambda one: self._distance(one, known)) if known else pool[0]
            found.append(pick)
            known.append(self._space.places(pick))
            untried.remove(pick)
        return found

    def promising(self, scores: Mapping[Configuration, float], number: int) -> list[Configuration]:
        """Going by the scores of all that were tried; smaller is better."""
        pool = self._pool(scores)
        if not pool:
            return []
        self._guess.learn([self._space.places(tried) for tried in scores], list(scores.values()))
        picks = self._guess.promising([self._space.places(one) for one in pool], number)
        return [pool[pick] for pick in picks]

    def _pool(self, scores: Mapping[Configuration, float]) -> list[Configuration]:
        """All that were not tried; where they are many, some of them and the neighbours of the best."""
        untried = self._untried(scores)
        if len(untried) <= LARGEST_POOL:
            return untried
        leaders = sorted(scores, key=lambda one: scores[one])[:LEADERS]
        near = [other for leader in leaders for other in self._neighbours(leader) if other not in scores]
        return list(dict.fromkeys([*near, *self._random.sample(untried, LARGEST_POOL)]))

    def _untried(self, tried: Collection[Configuration]) -> list[Configuration]:
        known = set(tried)
        return [one for one in self._space.configurations if one not in known]

    def _neighbours(self, configuration: Configuration) -> list[Configuration]:
        """Those that differ in one choice."""
        found = []
        for place, parameter in enumerate(self._space.template.parameters):
            for choice in parameter.choices:
                choices = list(configuration.choices)
                choices[place] = (parameter.name, choice.text)
                other = Configuration(tuple(choices))
                if other != configuration and other in self._space:
                    found.append(other)
        return found

    def _distance(self, configuration: Configuration, known: Sequence[Sequence[int]]) -> float:
        """To the nearest of those known, each parameter counted in shares of its range."""
        mine = self._space.places(configuration)
        scales = [max(1, size - 1) for size in self._sizes]
        return min(sum(abs(a - b) / scale for a, b, scale in zip(mine, other, scales, strict=True)) for other in known)
