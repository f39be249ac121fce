"""Who words the requests: which advice, which kernels to show, and when advice itself is rewritten."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelwright.archive import FREELY, Archive, Cell, Choice, Entry, Repair, target
from kernelwright.prompts import (
    Example,
    Family,
    Genome,
    Hardware,
    Kernel,
    Outcome,
    Parts,
    Step,
    Target,
    apply_edits,
    measured,
    render,
    rewrite_prompt,
    seed,
)
from kernelwright.propose import Request
from kernelwright.tasks import Task

INSPIRATIONS = 2
LONGEST_HISTORY = 6
# Advice is rewritten after so many kernels written with it, and shown with so many of each kind.
REWRITE_AFTER, EXAMPLES = 8, 3


@dataclass(frozen=True)
class Known:
    """A judged candidate of this run: its text, its verdict, where it came from, what the profiler says of it."""

    source: str
    verdict: Mapping[str, Any]
    cell: Cell
    parent: str | None = None
    why: str = "a first draft"
    profile: str = ""

    def kernel(self) -> Kernel:
        outcome = Outcome.from_verdict(self.verdict)
        return Kernel(source=self.source, outcome=outcome, cell=self.cell, profile=self.profile)


@dataclass(frozen=True)
class Draft:
    """A request made ready: what it asks for, and by which advice; for a seed by none.

    `seed_of`: the kernel that a seed varies, which nobody chose.
    """

    request: Request
    genome: str | None
    came_of: Choice | Repair | None
    seed_of: str | None = None

    @property
    def parent(self) -> str | None:
        return self.came_of.parent if self.came_of else self.seed_of


@dataclass
class Author:
    """Words requests for one task and backend. `evolve`: whether advice is rewritten and chosen among.

    Args:
        inspire: Whether kernels of other cells are shown beside one that is to be taken somewhere.
        recall: A candidate's text, verdict and origin, by its hash.
        machine: What a verdict says of it, for the time when a profile has measured more.
        tokens: How long a prompt may be, as estimated from its characters.
        templates: Whether writers are told how to leave values open, for the tuner to settle.
    """

    task: Task
    backend: str
    hardware: Hardware
    recall: Callable[[str], Known]
    family: Family
    evolve: bool = True
    tokens: int = Parts.tokens
    machine: Mapping[str, Any] = field(default_factory=dict)
    _seen: bool = False
    inspire: bool = True
    templates: bool = False
    _written: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def with_seed(
        cls, task: Task, backend: str, hardware: Hardware, recall: Callable[[str], Known], **how: Any
    ) -> Author:
        return cls(task, backend, hardware, recall, Family([seed(backend)]), **how)

    def draft(self, name: str, came_of: Choice | Repair | None, archive: Archive, rng: random.Random) -> Draft:
        """The request of this id for what was chosen."""
        genome = self.family.choose(rng) if self.evolve else next(iter(self.family))
        parent = self.recall(came_of.parent) if came_of else None
        text = render(self._parts(came_of, parent, genome, archive, rng))
        request = Request(
            id=name, prompt=text, kind=_kind(came_of), backend=self.backend, parent=parent.source if parent else None
        )
        return Draft(request, genome.hash, came_of)

    def _parts(
        self,
        came_of: Choice | Repair | None,
        parent: Known | None,
        genome: Genome,
        archive: Archive,
        rng: random.Random,
    ) -> Parts:
        others = self._others(came_of, archive, rng)
        return Parts(
            kind=_kind(came_of),
            backend=self.backend,
            task=self.task,
            genome=genome,
            hardware=self.hardware,
            parent=parent.kernel() if parent else None,
            inspirations=tuple(self.recall(other.candidate).kernel() for other in others),
            history=self._history(came_of.parent) if came_of else (),
            target=_target(came_of) if isinstance(came_of, Choice) else None,
            tokens=self.tokens,
            templates=self.templates,
        )

    def _others(self, came_of: Choice | Repair | None, archive: Archive, rng: random.Random) -> list[Entry]:
        """Kernels of other cells; none beside one that is improved as its writer sees fit."""
        if not self.inspire or not isinstance(came_of, Choice) or came_of.direction == FREELY:
            return []
        return archive.inspirations(came_of.cell, INSPIRATIONS, rng)

    def _history(self, candidate: str) -> tuple[Step, ...]:
        """What became of the steps that led here, oldest first."""
        steps: list[Step] = []
        now: str | None = candidate
        while now is not None and len(steps) < LONGEST_HISTORY:
            known = self.recall(now)
            steps.insert(0, Step(known.why, str(known.verdict["status"])))
            now = known.parent
        return tuple(steps)

    def see(self, facts: Mapping[str, Any]) -> None:
        """What a profile has measured of the machine stands in every later prompt; the first says it all."""
        if not self._seen:
            self.hardware, self._seen = measured(self.machine, facts), True

    # Advice

    def take_up(self, genome: str, candidates: list[str], rewritings: int) -> None:
        """Kernels written with this advice before the run was left, and how often it was to be rewritten since."""
        self._written[genome] = candidates[REWRITE_AFTER * rewritings :]

    def learn(self, genome: str, candidate: str, gain: float | None) -> None:
        """A kernel written with this advice was judged."""
        self.family.learn(genome, gain)
        self._written.setdefault(genome, []).append(candidate)

    def due(self) -> str | None:
        """The advice whose turn it is to be rewritten, if any's is."""
        if not self.evolve:
            return None
        ready = (one.hash for one in self.family if len(self._written.get(one.hash, ())) >= REWRITE_AFTER)
        return next(ready, None)

    def rewriting(self, name: str, genome: str) -> Request:
        """The request for better advice. Shown are as many kernels each time, and the rest the next time: whoever comes
        back to the run counts them so.
        """
        shown, self._written[genome] = self._written[genome][:REWRITE_AFTER], self._written[genome][REWRITE_AFTER:]
        written = [self.recall(candidate) for candidate in shown]
        right = [_example(self.task, known) for known in written if known.verdict["accepted"]]
        wrong = [_example(self.task, known) for known in written if not known.verdict["accepted"]]
        right.sort(key=lambda one: -max((found.ratio for found in one.outcome.speedups.values()), default=0.0))
        text = rewrite_prompt(
            self.family[genome],
            right[:EXAMPLES],
            wrong[:EXAMPLES],
            worth=self.family.worth(genome),
            tokens=self.tokens,
        )
        return Request(id=name, prompt=text, kind="rewrite", backend=self.backend)

    def rewritten(self, genome: str, answer: str) -> tuple[Genome | None, tuple[str, ...]]:
        """New advice from an answer, taken into the family; or why there is none."""
        found = apply_edits(self.family[genome], answer)
        if found.genome is not None:
            self.family.add(found.genome)
        return found.genome, found.refused


def _kind(came_of: Choice | Repair | None) -> Any:
    return "draft" if came_of is None else "repair" if isinstance(came_of, Repair) else "improve"


def _target(choice: Choice) -> Target | None:
    goal = target(choice.cell, choice.direction)
    return Target(choice.cell, goal) if goal is not None else None


def _example(task: Task, known: Known) -> Example:
    return Example(task=task.name, source=known.source, outcome=Outcome.from_verdict(known.verdict))
