"""Before anything is paid for: is the judge to be believed on this task, on this machine?

Three candidates are made from the reference itself: one that is right, one that is wrong, one that cheats. Each must
be judged as what it is. A project is tried with its regions as they are, with nothing in them, and with other
arithmetic in them: its tests or its benchmark have to notice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kernelwright.judge import Status
from kernelwright.tasks import Project, Task

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
    if task.project is not None:
        return _project_trials(task, task.project)
    allowed = replace(task, library="allowed")
    return [
        Trial("the reference itself", allowed, task.source + RIGHT, frozenset({Status.CORRECT, Status.UNTIMED})),
        Trial("a candidate that returns zeros", allowed, task.source + WRONG, frozenset({Status.WRONG_VALUE})),
        Trial("a candidate that keeps its first answer", allowed, task.source + CHEATING, frozenset({Status.STATEFUL})),
    ]


REFUSED = frozenset(Status) - {Status.CORRECT, Status.UNTIMED, Status.INFRA}
# Operators with space around them, which are arithmetic in every language; a sign or a pointer has none on one side.
_ARITHMETIC = re.compile(r"(?<= )[-+*/](?==? )")
_OTHER = {"+": "-", "-": "+", "*": "+", "/": "*"}


def _project_trials(task: Task, project: Project) -> list[Trial]:
    right = Trial("the project as it is", task, project.original, frozenset({Status.CORRECT, Status.UNTIMED}))
    wrong = {
        "the project with nothing in its regions": dict.fromkeys((region.name for region in project.regions), ""),
        "the project with other arithmetic in its regions": {
            region.name: _ARITHMETIC.sub(lambda found: _OTHER[found[0]], region.text) for region in project.regions
        },
    }
    as_it_is = {region.name: region.text for region in project.regions}
    return [
        right,
        *(Trial(name, task, project.compose(texts), REFUSED) for name, texts in wrong.items() if texts != as_it_is),
    ]
