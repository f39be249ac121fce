"""A switch that turns every native function into one that checks its arguments and then does nothing.

The judge uses it to ask whether a candidate's answer depends on its kernels at all.
"""

from collections.abc import Callable
from typing import Any

_muted = False


def mute() -> None:
    """From now on, in this process, functions of libraries return zero without running."""
    global _muted
    _muted = True


def is_muted() -> bool:
    return _muted


def silent() -> Callable[..., int]:
    """Stands in for a C function: does nothing, returns zero."""

    def nothing(*values: Any) -> int:
        return 0

    return nothing
