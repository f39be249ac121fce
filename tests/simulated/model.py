"""The simulated model: it answers as a model would, from what stands in the prompt and nothing else.

It knows how to write every member of its family and not how fast any is. docs/compare.md says how it answers and why.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from kernelwright import backends
from kernelwright.archive import AXES, Cell
from kernelwright.propose import Reply, Request
from tests.simulated._family import Family, Member

# How often it does as it is told, where it is told where to go.
OBEYING = 0.7
# How often an idea of its own is one that the advice names, and else one that another kernel has which it is shown.
HEEDING, BORROWING = 0.3, 0.3
# How often one, two or three answers are changed at once.
CHANGES = (0.65, 0.27, 0.08)
# How much likelier an answer is changed to the next one, before or behind, than to one farther off.
NEXT = 5.0
# Every further answer is so much rarer in a draft than the one before.
RARER = 0.5
# Something slips so often, more often with every answer that is changed, and with every step away from the plain.
SLIPPING, A_CHANGE, A_STEP = 0.10, 0.05, 0.02
# A repair succeeds so often.
MENDING = 0.7
CHARACTERS_A_TOKEN = 4
DOLLARS_A_TOKEN = 2e-6

_FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)
_GAINED = re.compile(r"^### Gained.*?```python\n(.*?)```", re.DOTALL | re.MULTILINE)
_MOVE = re.compile(r"^- (\w+): now .*\. (Go on|Simplify) to ", re.MULTILINE)
_REMARK = re.compile(r"^- It pays: (\w+) = (\S+)\.$", re.MULTILINE)
_STRATEGY = re.compile(r"^.*Divide once.*$", re.MULTILINE)
STAY = "Stay with the kernel's strategy"


@dataclass(frozen=True)
class Hint:
    """What a prompt says: where to go (None: nothing), which other kernels there are, what is said to pay."""

    direction: tuple[str, int] | str | None
    shown: tuple[Member, ...]
    pays: tuple[tuple[str, str], ...]


class SimulatedModel:
    """Answers requests for one family. The same request to the same seed gets the same answer."""

    def __init__(self, family: Family, seed: int) -> None:
        self._family, self._seed = family, seed

    def propose(self, request: Request) -> Reply:
        # A stream of its own: the engine draws its choice from the run's seed and the request's id.
        rng = random.Random(f"model {self._seed} {request.id}")
        text = self._advice(request, rng) if request.kind == "rewrite" else self._kernel(request, rng)
        tokens_in, tokens_out = (len(one) // CHARACTERS_A_TOKEN for one in (request.prompt, text))
        return Reply(
            text=text,
            model="simulated",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            dollars=(tokens_in + tokens_out) * DOLLARS_A_TOKEN,
            seconds=0.0,
            finish="stop",
        )

    def _kernel(self, request: Request, rng: random.Random) -> str:
        member = self._answer(request, rng)
        return f"```python\n{self._family.source(member, remark=f'{self._seed}-{request.id}')}\n```"

    def _answer(self, request: Request, rng: random.Random) -> Member:
        if request.parent is None:
            return self._slipping(self._draft(rng), len(self._family.choices), rng)
        parent = self._family.recognised(request.parent)
        if request.kind == "repair":
            return parent.mended if rng.random() < MENDING else parent
        child = self._improved(parent, self._read(request), rng)
        return self._slipping(child, self._family.changes(parent, child), rng)

    def _slipping(self, member: Member, changes: int, rng: random.Random) -> Member:
        """The more is written at once, and the more there is to it, the likelier something is wrong."""
        chance = SLIPPING + A_CHANGE * changes + A_STEP * self._family.steps(member)
        return Member(member.answers, broken=rng.random() < chance)

    # Writing

    def _draft(self, rng: random.Random) -> Member:
        """Plain, by and large, as first drafts are."""
        while True:
            drawn = {
                name: rng.choices(values, [RARER**place for place in range(len(values))])[0]
                for name, values in self._family.choices.items()
            }
            member = self._family.member(self._family.settled(drawn))
            if member is not None:
                return member

    def _improved(self, parent: Member, hint: Hint, rng: random.Random) -> Member:
        if hint.direction is not None and rng.random() < OBEYING:
            obedient = self._that_way(parent, hint.direction, rng)
            if obedient is not None:
                return obedient
        return self._own_idea(parent, hint, rng)

    def _that_way(self, parent: Member, direction: tuple[str, int] | str, rng: random.Random) -> Member | None:
        """A kernel not far from the parent that lies where it was told to go, if it knows one."""
        near: dict[int, list[Member]] = defaultdict(list)
        for member in self._family.whole:
            changes = self._family.changes(parent, member)
            if 1 <= changes <= len(CHANGES) and self._goes(parent, member, direction):
                near[changes].append(member)
        if not near:
            return None
        number = rng.choices(list(near), [CHANGES[changes - 1] for changes in near])[0]
        return rng.choices(near[number], [self._likely(parent, member) for member in near[number]])[0]

    def _goes(self, parent: Member, member: Member, direction: tuple[str, int] | str) -> bool:
        here, there = (cell_of(self._family, one) for one in (parent.mended, member))
        if isinstance(direction, str):
            return here == there
        axis, way = AXES.index(direction[0]), direction[1]
        return (there[axis] - here[axis]) * way > 0

    def _likely(self, parent: Member, member: Member) -> float:
        weight, begun = 1.0, self._family.begun(parent, member)
        for values, mine, its in zip(self._family.choices.values(), begun.answers, member.answers, strict=True):
            weight *= 1.0 if mine == its else _closeness(values, mine, its)
        return weight

    def _own_idea(self, parent: Member, hint: Hint, rng: random.Random) -> Member:
        """Changes answers as it sees fit: one that is said to pay, some that another kernel has, or any."""
        number = rng.choices(range(1, len(CHANGES) + 1), CHANGES)[0]
        while True:
            answers = self._family.answers(parent)
            idea = self._said(answers, hint, rng) or self._borrowed(answers, hint, number, rng)
            answers = answers | idea if idea else self._changed(answers, number, rng)
            member = self._family.member(self._family.settled(answers))
            if member is not None and member != parent.mended:
                return member

    def _changed(self, answers: dict[str, str], number: int, rng: random.Random) -> dict[str, str]:
        """So many answers given anew, one after the other: what goes over to another way is asked about that one."""
        left = [*answers]
        for _ in range(number):
            name = rng.choice([one for one in self._family.asked(answers) if one in left])
            left.remove(name)
            answers = self._family.settled(answers | {name: self._other(name, answers[name], rng)})
        return answers

    def _said(self, answers: dict[str, str], hint: Hint, rng: random.Random) -> dict[str, str]:
        new = [(name, value) for name, value in hint.pays if answers.get(name, value) != value]
        return dict([rng.choice(new)]) if new and rng.random() < HEEDING else {}

    def _borrowed(self, answers: dict[str, str], hint: Hint, number: int, rng: random.Random) -> dict[str, str]:
        if not hint.shown or rng.random() >= BORROWING:
            return {}
        others = self._family.answers(rng.choice(hint.shown))
        different = [name for name in answers if answers[name] != others[name]]
        return {name: others[name] for name in rng.sample(different, min(number, len(different)))}

    def _other(self, name: str, now: str, rng: random.Random) -> str:
        values = self._family.choices[name]
        others = [value for value in values if value != now]
        return rng.choices(others, [_closeness(values, now, value) for value in others])[0]

    # Reading

    def _read(self, request: Request) -> Hint:
        _, target, rest = request.prompt.partition("## Where to go")
        return Hint(
            direction=_direction(rest) if target else None,
            shown=tuple(self._recognised(_FENCED.findall(request.prompt), request.parent)),
            pays=tuple(_REMARK.findall(request.prompt)),
        )

    def _recognised(self, texts: Iterable[str], parent: str | None = None) -> Iterable[Member]:
        for text in texts:
            found = self._family.find(text)
            if found is not None and text.strip() != (parent or "").strip():
                yield found.mended

    # Advice

    def _advice(self, request: Request, rng: random.Random) -> str:
        """Names one answer that the kernels have in common which it is shown as having gained, if there is one."""
        line = _STRATEGY.search(request.prompt)
        common = self._common(list(self._recognised(_GAINED.findall(request.prompt))))
        if not common or line is None:
            return "Nothing to change."
        name, value = rng.choice(common)
        added = f"{line[0]}\n- It pays: {name} = {value}."
        return f"<<<<<<< SEARCH strategies\n{line[0]}\n=======\n{added}\n>>>>>>> REPLACE"

    def _common(self, shown: list[Member]) -> list[tuple[str, str]]:
        told = [set(self._family.answers(member).items()) for member in shown]
        return sorted(set.intersection(*told)) if told else []


@cache
def cell_of(family: Family, member: Member) -> Cell:
    """A writer knows what his kernels do."""
    return backends.describe(family.source(member)).cell


def _direction(text: str) -> tuple[str, int] | str | None:
    """Where a prompt says to go."""
    if STAY in text:
        return STAY
    found = _MOVE.search(text)
    return (found[1], 1 if found[2] == "Go on" else -1) if found else None


def _closeness(values: tuple[str, ...], one: str, other: str) -> float:
    return NEXT if abs(values.index(one) - values.index(other)) == 1 else 1.0
