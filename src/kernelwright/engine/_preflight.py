"""Before anything is paid for: is the judge to be believed on this task, on this machine?

Three candidates are made from the reference itself: one that is right, one that is wrong, one that cheats. Each must
be judged as what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kernelwright.judge import Status, Verdict
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

        if not hasattr(self, "kept"):
            self.kept = super().forward(*arguments, **named)
        return tree_map(lambda leaf: leaf.clone(), self.kept)
"""


@dataclass(frozen=True)
class Trial:
    """A candidate whose fate is known."""

    name: str
    task: Task
    source: str
    expect: frozenset[Status]


@dataclass(frozen=True)
class Surprise:
    """A candidate that was judged as something else than it is."""

    trial: Trial
    verdict: Verdict

    def __str__(self) -> str:
        wanted = " or ".join(sorted(self.trial.expect))
        said = f"{self.verdict.status}: {self.verdict.message}"
        return f"{self.trial.name} should have been judged {wanted}, and was {said}"


def trials(task: Task) -> list[Trial]:
    """The reference may call libraries, so the one that is right is judged as if every candidate might."""
    allowed = replace(task, library="allowed")
    return [
        Trial("the reference itself", allowed, task.source + RIGHT, frozenset({Status.CORRECT, Status.UNTIMED})),
        Trial("a candidate that returns zeros", allowed, task.source + WRONG, frozenset({Status.WRONG_VALUE})),
        Trial("a candidate that keeps its first answer", allowed, task.source + CHEATING, frozenset({Status.STATEFUL})),
    ]


def preflight(task: Task, judge: Callable[[Task, str], Verdict]) -> list[Surprise]:
    """Judges all three; what came out otherwise than it must."""
    verdicts = [(trial, judge(trial.task, trial.source)) for trial in trials(task)]
    return [Surprise(trial, verdict) for trial, verdict in verdicts if verdict.status not in trial.expect]
