"""Strategy coordinates of a candidate: where in the space of memory, algorithm and coordination it stands."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kernelwright.backends._registry import DEFAULT, get, names

if TYPE_CHECKING:
    from kernelwright.backends._strategy._description import Description, Reading


# By backend, how often compiled code has each sign; a judge's verdict holds it as `evidence["code"]`.
Code = Mapping[str, Mapping[str, int]]


def describe(source: str, backend: str | None = None, *, code: Code | None = None) -> "Description":
    """The coordinates of a candidate's file, or of a device text alone, and what in it proves them.

    Without `backend`, every language found in it is read. Any text is described, broken ones by what can be made out;
    only a `backend` that there is not raises (UnknownBackendError). `code`: what the text was compiled to. It takes
    back what the text asks for and the compiler did not do, and never adds anything.
    """
    # Here, not above: whoever runs beside a candidate describes nothing.
    from kernelwright.backends._strategy._description import merged

    languages = [get(backend).name] if backend else _languages(source)
    try:
        return merged(reading for language in languages for reading in _readings(source, language, code or {}))
    except Exception as fault:  # A text made to break its reader costs its author the coordinates, nobody the run.
        return merged((), f"could not be read: {type(fault).__name__}")


def _readings(source: str, language: str, code: Code) -> Iterator["Reading"]:
    from kernelwright.backends._strategy._levels import levels

    backend = get(language)
    for program in backend.programs(source):
        for reading in levels(program, backend.strategy):
            yield reading.corrected(code[language], backend.signs) if language in code else reading


def _languages(source: str) -> list[str]:
    used = [name for name in names() if name != DEFAULT and get(name).recognises(source)]
    return used or _guessed(source)


def _guessed(source: str) -> list[str]:
    """What a text is that no candidate's file surrounds."""
    marks = {"cuda": r"__global__|__device__", "sycl": r"\bsycl::", "cpp": r'\bextern\s+"C"|#\s*include\b'}
    return [name for name, mark in marks.items() if re.search(mark, source)][:1]
