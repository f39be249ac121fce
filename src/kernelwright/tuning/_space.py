"""All configurations that satisfy the constraints on this machine. The others are never written, let alone compiled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from kernelwright.tuning._error import TuningError
from kernelwright.tuning._expression import Expression, ExpressionError, Value
from kernelwright.tuning._limits import LIMITS
from kernelwright.tuning._parameter import Choice, Parameter
from kernelwright.tuning._template import Configuration, Template

MOST_COMBINATIONS = 1_000_000

Holds = Callable[[Expression, Mapping[str, Value]], bool]


class Space:
    """The configurations of a template on one machine, in the order of the declaration.

    Attributes:
        combinations: How many there would be without constraints.
        configurations: Those that satisfy them.
    """

    def __init__(self, template: Template, limits: Mapping[str, int]) -> None:
        self.template, self._limits = template, limits
        self.combinations = math.prod(len(parameter.choices) for parameter in template.parameters)
        _check_size(self.combinations)
        self._check_limits()
        self._check_default()
        self.configurations = tuple(self._all())
        if not self.configurations:
            raise self._contradiction()

    def __len__(self) -> int:
        return len(self.configurations)

    def __contains__(self, configuration: Configuration) -> bool:
        """Whether it is one of them, without looking through them."""
        parameters = self.template.parameters
        if tuple(name for name, _ in configuration.choices) != tuple(parameter.name for parameter in parameters):
            return False
        if any(text not in p.places for (_, text), p in zip(configuration.choices, parameters, strict=True)):
            return False
        return all(self._holds(constraint, self.values(configuration)) for constraint in self.template.constraints)

    def values(self, configuration: Configuration) -> dict[str, Value]:
        """What the names in a constraint stand for."""
        pairs = zip(configuration.choices, self.template.parameters, strict=True)
        return {name: parameter.choices[parameter.places[text]].value for (name, text), parameter in pairs}

    def places(self, configuration: Configuration) -> tuple[int, ...]:
        """Where every choice stands among those of its parameter."""
        pairs = zip(configuration.choices, self.template.parameters, strict=True)
        return tuple(parameter.places[text] for (_, text), parameter in pairs)

    @property
    def starting_point(self) -> Configuration:
        """The defaults, or the first configuration where a limit of this machine rules them out."""
        default = self.template.default
        return default if default in self else self.configurations[0]

    # Finding them

    def _all(self) -> Iterator[Configuration]:
        for chosen in _satisfying(self.template.parameters, self.template.constraints, self._holds):
            yield Configuration(tuple((name, choice.text) for name, choice in chosen.items()))

    def _holds(self, constraint: Expression, names: Mapping[str, Value]) -> bool:
        try:
            return constraint.holds({**self._limits, **names})
        except ExpressionError as error:
            at = " ".join(f"{name}={names[name]}" for name in sorted(constraint.names) if name in names)
            what = f"the constraint {constraint.text!r} has no answer for {at}: {error}"
            raise TuningError(what, "rule that case out in the same line, with `and` or `if`") from error

    # What may be wrong with it

    def _check_limits(self) -> None:
        for constraint in self.template.constraints:
            for name in sorted(constraint.names & LIMITS.keys() - self._limits.keys()):
                what = f"the constraint {constraint.text!r} asks for {name} ({LIMITS[name]}), unknown on this machine"
                raise TuningError(what, f"known here: {', '.join(self._limits)}")

    def _check_default(self) -> None:
        """Where only a limit of this machine rules the defaults out, that is no fault of the author's."""
        names = self.values(self.template.default)
        for constraint in self.template.constraints:
            if constraint.names <= names.keys() and not self._holds(constraint, names):
                at = " ".join(f"{name}={names[name]}" for name in sorted(constraint.names))
                what = f"the values as written, {at}, violate the constraint {constraint.text!r}"
                raise TuningError(what, "write values that satisfy it: they are what runs untuned")

    def _contradiction(self) -> TuningError:
        """Which constraints leave nothing: one, two that exclude each other, or all together."""
        constraints = self.template.constraints
        for number in (1, 2):
            for few in itertools.combinations(constraints, number):
                if not self._satisfiable(few):
                    return _contradictory(few, self._limits)
        return _contradictory(constraints, self._limits)

    def _satisfiable(self, constraints: Sequence[Expression]) -> bool:
        named = frozenset().union(*(constraint.names for constraint in constraints))
        parameters = [parameter for parameter in self.template.parameters if parameter.name in named]
        return next(_satisfying(parameters, constraints, self._holds), None) is not None


def _check_size(combinations: int) -> None:
    if combinations > MOST_COMBINATIONS:
        what = f"the parameters have {combinations:,} combinations, more than {MOST_COMBINATIONS:,}"
        raise TuningError(what, "take out values that cannot win; powers of two are often enough")


def _contradictory(constraints: Sequence[Expression], limits: Mapping[str, int]) -> TuningError:
    said = " and ".join(repr(constraint.text) for constraint in constraints)
    used = sorted(set().union(*(constraint.names for constraint in constraints)) & limits.keys())
    here = f" (here {', '.join(f'{name} is {limits[name]}' for name in used)})" if used else ""
    verb = "holds for no" if len(constraints) == 1 else "hold together for no"
    return TuningError(f"the space is empty: {said} {verb} choice of values{here}", "loosen it, or add values")


def _satisfying(
    parameters: Sequence[Parameter], constraints: Sequence[Expression], holds: Holds
) -> Iterator[dict[str, Choice]]:
    """One parameter after the other; a constraint is asked as soon as all it names are chosen."""
    names = [parameter.name for parameter in parameters]
    due = [[each for each in constraints if _settled_after(each, names) == depth] for depth in range(len(names) + 1)]
    chosen: dict[str, Choice] = {}
    values: dict[str, Value] = {}

    def descend(depth: int) -> Iterator[dict[str, Choice]]:
        if not all(holds(constraint, values) for constraint in due[depth]):
            return
        if depth == len(parameters):
            yield dict(chosen)
            return
        for choice in parameters[depth].choices:
            chosen[names[depth]], values[names[depth]] = choice, choice.value
            yield from descend(depth + 1)

    return descend(0)


def _settled_after(constraint: Expression, names: Sequence[str]) -> int:
    """How many parameters must be chosen before the constraint has an answer."""
    return max((place + 1 for place, name in enumerate(names) if name in constraint.names), default=0)
