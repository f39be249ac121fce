"""Makes a task small enough for this machine: its memory, and a time per call."""

from __future__ import annotations

from kernelwright.judge._judge import Judge
from kernelwright.judge._limits import available_memory
from kernelwright.tasks import Task, TaskError, input_bytes, shrink

# A dozen trials of every case are kept, each with its inputs, its result, and the result in double precision; with
# what the workers need beside them that is some fifty times the bytes of one call.
MEMORY_SHARE = 1 / 64
# More than this makes no kernel easier to tell from another, and every trial is drawn, computed twice and compared.
MOST_BYTES = 256 << 20
MOST_STEPS = 10
LARGEST_STEP = 64.0


def fit(judge: Judge, task: Task, *, seconds: float) -> tuple[Task, list[str]]:
    """The task, or a smaller one that fits, and in words what was changed."""
    changes: list[str] = []
    for _ in range(MOST_STEPS):
        excess = _excess(judge, task, seconds)
        if excess <= 1:
            return task, _joined(changes)
        smaller = shrink(task, min(LARGEST_STEP, max(2.0, excess)))
        if smaller is None:
            break
        task = smaller.task
        changes += smaller.changes
    raise TaskError(
        "the task cannot be made small enough for this machine by its sizes alone",
        task.origin,
        "set its sizes by hand: --set NAME=VALUE",
    )


def _joined(changes: list[str]) -> list[str]:
    """`dim 64 -> 32` and `dim 32 -> 8` are `dim 64 -> 8`."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for change in changes:
        before, _, after = change.rpartition(" -> ")
        name, _, size = before.rpartition(" ")
        first.setdefault(name, size)
        last[name] = after
    return [f"{name} {size} -> {last[name]}" for name, size in first.items()]


def _excess(judge: Judge, task: Task, seconds: float) -> float:
    """How many times too large a task is: by its bytes if they can be told beforehand, then by trying."""
    room = min(MOST_BYTES, available_memory() * MEMORY_SHARE)
    estimated = input_bytes(task)
    if estimated is not None and estimated > room:
        return estimated / room
    size, took = judge.try_once(task)
    return max(size / room, took / seconds)
