"""Selection strategies by name. Filled by the modules of `strategies` as they are imported."""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable

from kernelwright.archive._choice import Choice
from kernelwright.archive._error import ArchiveError
from kernelwright.archive._scene import Scene

Strategy = Callable[[Scene, random.Random], Choice]

_strategies: dict[str, Strategy] = {}


class UnknownStrategyError(ArchiveError):
    """No strategy of that name; the message lists those there are."""


def register(strategy: Strategy) -> Strategy:
    """Decorator: makes a strategy known under its function's name."""
    _strategies[strategy.__name__] = strategy
    return strategy


def get(name: str) -> Strategy:
    try:
        return _strategies[name]
    except KeyError:
        raise UnknownStrategyError(_unknown(name)) from None


def names() -> tuple[str, ...]:
    return tuple(sorted(_strategies))


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, names(), n=1)
    question = f" did you mean {close[0]}?" if close else ""
    return f"no selection strategy {name!r};{question} known: {', '.join(names())}"
