"""Cases at nearby sizes: one less, and an odd half.

A kernel that is right at 4096 and wrong at 4095 knows one size; these cases tell. Whether the reference
itself accepts such a size is only known when it runs.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from kernelwright.tasks._case import Case
from kernelwright.tasks._constants import sizes
from kernelwright.tasks._error import TaskError
from kernelwright.tasks._reads import Reads
from kernelwright.tasks._reference import Reference

_MOST = 4


def changeable_sizes(reference: Reference) -> dict[str, int]:
    """Integer constants that `get_inputs` reads when called and on which nothing else depends."""
    reads = Reads.of(reference)
    changeable = reads.by_call("get_inputs") - reads.fixed() - reads.import_time()
    return {name: size for name, size in sizes(reference).items() if name in changeable}


def neighbours(case: Case, changeable: Mapping[str, int]) -> tuple[Case, ...]:
    """At most four cases like `case`, each with one size changed."""
    found: dict[str, Case] = {}
    for name, size in _nearby(changeable):
        # A size at which an input cannot be drawn (`integers(0, n - 1)` at n = 1) is no neighbour.
        with suppress(TaskError):
            found[f"{name}={size}"] = _neighbour(case, name, size)
    return tuple(found.values())[:_MOST]


def _nearby(changeable: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """All sizes less one come first, so that every name gets its turn among the first four."""
    yield from ((name, size - 1) for name, size in changeable.items() if size >= 2)
    yield from ((name, (size // 2) | 1) for name, size in changeable.items() if size >= 2)


def _neighbour(case: Case, name: str, size: int) -> Case:
    return replace(case.at({name: size}), name=f"{name}={size}", weight=1.0, families=("given",))
