"""A smaller task of the same kind, for machines that the given one does not fit.

Knows which sizes can be halved without changing the model. How much smaller it must be is for the caller
to say, who knows the memory and the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from kernelwright.tasks._case import Case
from kernelwright.tasks._constants import sizes, with_constants
from kernelwright.tasks._error import TaskError
from kernelwright.tasks._literals import is_integer
from kernelwright.tasks._neighbours import changeable_sizes, neighbours
from kernelwright.tasks._reads import Reads
from kernelwright.tasks._reference import Reference
from kernelwright.tasks._size import case_bytes, estimated_bytes
from kernelwright.tasks._task import Task

BytesAt = Callable[[Mapping[str, int]], float]


@dataclass(frozen=True)
class Shrunk:
    """A smaller task, and in words what was changed: `batch_size 4096 -> 1024`."""

    task: Task
    changes: tuple[str, ...]


def shrink(task: Task, factor: float) -> Shrunk | None:
    """The task with its largest sizes halved until the largest case takes `factor` times fewer input bytes.

    Only sizes are halved that the model's constructor does not depend on; in a task folder the dims listed
    as `neighbours`, or all dims where none are listed. None: it cannot be made that much smaller this way.
    """
    if factor <= 1:
        return Shrunk(task, ())
    reference = Reference.parse(task.source, task.origin or task.name)
    if _sized_by_source(task):
        return _shrink_source(task, reference, factor)
    return _shrink_cases(task, reference, factor)


def _sized_by_source(task: Task) -> bool:
    return all(case.inputs is None and not case.constants for case in task.cases)


def _shrink_source(task: Task, reference: Reference, factor: float) -> Shrunk | None:
    before = _halvable_sizes(reference)
    after = _halved(before, _bytes_by_source(reference), factor)
    if after is None:
        return None
    smaller = with_constants(reference, _changed(before, after))
    near = neighbours(task.cases[0], changeable_sizes(smaller))
    return Shrunk(replace(task, source=smaller.text, neighbours=near), _sentences(before, after))


def _halvable_sizes(reference: Reference) -> dict[str, int]:
    # Wider than what neighbours may change: the text itself changes, so sizes computed from these follow.
    reads = Reads.of(reference)
    halvable = reads.by_any_means("get_inputs") - reads.fixed()
    return {name: size for name, size in sizes(reference).items() if name in halvable}


def _bytes_by_source(reference: Reference) -> BytesAt:
    def estimate(at: Mapping[str, int]) -> float:
        known = estimated_bytes(reference, at)
        # Without an estimate, assume that all sizes multiply.
        return prod(at.values()) if known is None else known

    return estimate


def _shrink_cases(task: Task, reference: Reference, factor: float) -> Shrunk | None:
    cases: list[Case] = []
    changes: list[str] = []
    for case, needed in zip(task.cases, _needed_factors(task, reference, factor), strict=True):
        before = _dims(task, case)
        after = _halved(before, _bytes_by_case(reference, case), needed)
        if after is None:
            return None
        cases.append(case.at(_changed(before, after)))
        changes += [f"{case.name}: {sentence}" for sentence in _sentences(before, after)]
    near = neighbours(cases[0], _dims(task, cases[0]) if task.varying else {})
    return Shrunk(replace(task, cases=tuple(cases), neighbours=near), tuple(changes))


def _needed_factors(task: Task, reference: Reference, factor: float) -> list[float]:
    """How much each case must shrink. Small ones stay as they are: what does not fit is the largest."""
    measured = [case_bytes(reference, case) for case in task.cases]
    target = max((size for size in measured if size is not None), default=0) / factor
    return [factor if size is None or target == 0 else size / target for size in measured]


def _dims(task: Task, case: Case) -> dict[str, int]:
    allowed = task.varying or tuple(case.constants)
    return {name: int(case.constants[name]) for name in allowed if is_integer(case.constants.get(name))}


def _bytes_by_case(reference: Reference, case: Case) -> BytesAt:
    def measure(at: Mapping[str, int]) -> float:
        known = case_bytes(reference, case.at(at))
        return prod(at.values()) if known is None else known

    return measure


def _halved(before: Mapping[str, int], bytes_at: BytesAt, factor: float) -> dict[str, int] | None:
    """The sizes, the largest halved again and again until `factor` is reached; None where it cannot be."""
    sizes_now = dict(before)
    target = bytes_at(sizes_now) / factor
    while bytes_at(sizes_now) > target:
        smaller = _one_halved(sizes_now, bytes_at)
        if smaller is None:
            return None
        sizes_now = smaller
    return sizes_now


def _one_halved(sizes_now: dict[str, int], bytes_at: BytesAt) -> dict[str, int] | None:
    for name in sorted(sizes_now, key=lambda name: -sizes_now[name]):
        smaller = {**sizes_now, name: sizes_now[name] // 2}
        if sizes_now[name] > 1 and _saves(smaller, sizes_now, bytes_at):
            return smaller
    return None


def _saves(smaller: Mapping[str, int], now: Mapping[str, int], bytes_at: BytesAt) -> bool:
    try:
        return bytes_at(smaller) < bytes_at(now)
    except TaskError:
        # At that size an input can no longer be drawn.
        return False


def _changed(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in after.items() if size != before[name]}


def _sentences(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"{name} {before[name]} -> {size}" for name, size in _changed(before, after).items())
