"""Optuna as the scout of large spaces: it is asked who should run next, and told of all that have.

An extra (`pip install kernelwright[optuna]`); without it our own scout goes on. Every time it is asked, it is told
everything anew, so that the same seed and the same laps make the same race.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from kernelwright.tuning._error import TuningError
from kernelwright.tuning._scout import Scout
from kernelwright.tuning._space import Space
from kernelwright.tuning._template import Configuration

OWN, OPTUNA, AUTO = "own", "optuna", "auto"
SAMPLERS = (AUTO, OWN, OPTUNA)
# Spaces larger than this are Optuna's, where it is installed and nobody says otherwise.
LARGE = 50_000
# So often it may name what a constraint forbids or what has run, for every one that is wanted.
TRIES = 3
# What it is told of whatever a constraint forbids: somewhat worse than the worst.
FORBIDDEN_BEHIND = 0.1


def chosen_sampler(asked: str, space: Space) -> str:
    """OWN or OPTUNA. Raises TuningError where the one that is asked for is not here."""
    if asked not in SAMPLERS:
        raise TuningError(f"there is no sampler {asked!r}", f"known: {', '.join(SAMPLERS)}")
    installed = importlib.util.find_spec("optuna") is not None
    if asked == OPTUNA and not installed:
        raise TuningError("Optuna is not installed", "pip install 'kernelwright[optuna]', or choose the sampler own")
    if asked == AUTO:
        return OPTUNA if installed and len(space) > LARGE else OWN
    return asked


def scout_for(sampler: str, space: Space, seed: int) -> Scout:
    return OptunaScout(space, seed) if chosen_sampler(sampler, space) == OPTUNA else Scout(space, seed)


class OptunaScout(Scout):
    """Begins like ours, far apart; then asks a tree-structured Parzen estimator."""

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__(space, seed)
        self._seed, self._asked = seed, 0

    def promising(self, scores: Mapping[Configuration, float], number: int) -> list[Configuration]:
        distributions = self._distributions()
        study = self._informed(scores, distributions)
        behind = max(scores.values()) + FORBIDDEN_BEHIND
        found: dict[Configuration, None] = {}
        for _ in range(TRIES * number):
            if len(found) == number:
                break
            trial = study.ask(distributions)
            one = self._configuration(trial.params)
            if one in self._space and one not in scores:
                found[one] = None
            study.tell(trial, scores.get(one, behind))  # whoever is wanted is not named twice
        return [*found, *super().promising(scores, number - len(found))] if len(found) < number else list(found)

    def _informed(self, scores: Mapping[Configuration, float], distributions: Mapping[str, Any]) -> Any:
        """A study that knows all that has run."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._asked += 1
        sampler = optuna.samplers.TPESampler(seed=self._seed + self._asked, n_startup_trials=0)
        study = optuna.create_study(sampler=sampler)
        study.add_trials(
            [
                optuna.trial.create_trial(params=self._places(one), distributions=dict(distributions), value=score)
                for one, score in scores.items()
            ]
        )
        return study

    def _distributions(self) -> dict[str, Any]:
        """Numbers by their places among the values, words as they are."""
        from optuna.distributions import CategoricalDistribution, IntDistribution

        return {
            parameter.name: IntDistribution(0, len(parameter.choices) - 1)
            if parameter.ordered
            else CategoricalDistribution(tuple(range(len(parameter.choices))))
            for parameter in self._space.template.parameters
        }

    def _places(self, configuration: Configuration) -> dict[str, int]:
        names = (parameter.name for parameter in self._space.template.parameters)
        return dict(zip(names, self._space.places(configuration), strict=True))

    def _configuration(self, places: Mapping[str, int]) -> Configuration:
        parameters = self._space.template.parameters
        return Configuration(tuple((each.name, each.choices[places[each.name]].text) for each in parameters))
