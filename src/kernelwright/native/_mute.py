"""A switch that turns every native function into one that does nothing.

The judge uses it to ask whether a candidate's answer depends on its kernels at all.
"""

_muted = False


def mute() -> None:
    """From now on, in this process, functions of libraries return zero without running."""
    global _muted
    _muted = True


def is_muted() -> bool:
    return _muted
