"""Before anything is paid for: is the judge to be believed on this task, on this machine?

Three candidates are made from the reference itself: one that is right, one that is wrong, one that cheats. Each must
be judged as what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelwright.judge import Status
from kernelwright.tasks import Task

RIGHT = """

class ModelNew(Model):
    pass
"""
WRONG = """

class ModelNew(Model):
    def forward(self, *arguments, **named):
        from torch.utils._pytree import tree_map

        return tree_map(lambda leaf: leaf.new_zeros(leaf.shape), super().forward(*arguments, **named))
"""
CHEATING = """

class ModelNew(Model):
    def forward(self, *arguments, **named):
        from torch.utils._pytree import tree_map

        kept = self.__dict__.setdefault("kept", {})
        size = str([getattr(value, "shape", None) for value in (*arguments, *named.values())])
        if size not in kept:
            kept[size] = super().forward(*arguments, **named)
        return tree_map(lambda leaf: leaf.clone(), kept[size])
"""


@dataclass(frozen=True)
class Trial:
    """A candidate whose fate is known."""

    name: str
    task: Task
    source: str
    expect: frozenset[Status]


def trials(task: Task) -> list[Trial]:
    """The reference may call libraries, so the one that is right is judged as if every candidate might."""
    allowed = replace(task, library="allowed")
    return [
        Trial("the reference itself", allowed, task.source + RIGHT, frozenset({Status.CORRECT, Status.UNTIMED})),
        Trial("a candidate that returns zeros", allowed, task.source + WRONG, frozenset({Status.WRONG_VALUE})),
        Trial("a candidate that keeps its first answer", allowed, task.source + CHEATING, frozenset({Status.STATEFUL})),
    ]
