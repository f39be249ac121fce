"""Backends by name. Filled by the language modules as they are imported."""

import difflib
from typing import TypeVar

from kernelwright.backends._backend import Backend

# What a candidate is when no language claims it: any Python file is at least Python.
DEFAULT = "python"

B = TypeVar("B", bound=Backend)
_backends: dict[str, Backend] = {}


class UnknownBackendError(LookupError):
    """No backend of that name; the message lists those there are."""


def register(backend: type[B]) -> type[B]:
    """Class decorator: makes a language known under its `name`."""
    _backends[backend.name] = backend()
    return backend


def get(name: str) -> Backend:
    try:
        return _backends[name]
    except KeyError:
        raise UnknownBackendError(_unknown(name)) from None


def names() -> tuple[str, ...]:
    return tuple(sorted(_backends))


def detect(text: str) -> str:
    """The name of the backend a candidate's text is written for.

    Of several languages in one text the one that this machine can do least with: it decides for the whole.
    """
    languages = (name for name in names() if name != DEFAULT)
    used = [name for name in languages if _backends[name].recognises(text)]
    return min(used, key=lambda name: _backends[name].scope(), default=DEFAULT)


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, names(), n=1)
    question = f" did you mean {close[0]}?" if close else ""
    return f"no backend {name!r};{question} known: {', '.join(names())}"
