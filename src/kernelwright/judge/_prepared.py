"""A task made ready to judge on: trials drawn, answers known, weaknesses found.

Preparing is paid once a task; every candidate then meets trials from a seed it could not have seen, in a process
that did not exist when they were drawn, and one more trial whose seed is drawn after it was loaded.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from kernelwright.judge import _nulls
from kernelwright.judge import _touch as touch
from kernelwright.judge._expected import Trial
from kernelwright.judge._limits import available_memory
from kernelwright.judge._memory import Packed
from kernelwright.judge._process import Template
from kernelwright.judge._reference import Reference
from kernelwright.tasks import Case, Task, TaskError

GIVEN_DRAWS = 2
POOL_SHARE = 0.12
FEWEST_POOL, MOST_POOL = 4, 64


@dataclass(frozen=True)
class Probe:
    """How a case depends on its inputs: the least work any kernel must do."""

    reduction: float
    bytes_read: float
    bytes_written: float

    @property
    def bytes_moved(self) -> float:
        return self.bytes_read + self.bytes_written


class Seeds:
    """Secret numbers, drawn when asked for and kept so that they can be revealed afterwards."""

    def __init__(self, master: int | None = None) -> None:
        self.master = secrets.randbits(62) if master is None else master
        self._count = 0

    def next(self) -> int:
        """Different every time; foretold only by who knows the master."""
        self._count += 1
        digest = hashlib.blake2b(f"{self.master} {self._count}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) >> 2


def _sound(trial: Trial | None) -> Trial | None:
    return trial if trial is not None and trial.expected.sound else None


class Prepared(Reference):
    """One task, ready for candidates."""

    def __init__(self, template: Template, task: Task, *, seeds: Seeds) -> None:
        super().__init__(template, task, seed=seeds.next())
        self.seeds = seeds
        self._pools: dict[str, list[Packed]] = {}
        self._neighbours: list[Trial] | None = None
        self.weight_seed = seeds.next()
        self.probes: dict[str, Probe] = {}
        self.skipped: list[str] = []
        self.flaws: tuple[str, ...] = ()
        self.journey_glue: float | None = None
        try:
            self.use_weights(self.weight_seed)
            self.trials = [trial for case in task.cases for trial in self._trials(case)]
            self._gate()
            self.touched = {case.name: list(self._touched(case)) for case in task.cases}
        except BaseException:
            self.close()
            raise

    def under(self, library: str) -> Self:
        """From now on candidates may call this much of libraries. Nothing that was drawn depends on it."""
        self.task = replace(self.task, library=library)  # with the very cases that the trials were drawn for
        return self

    def close(self) -> None:
        """Lets go of all that was drawn at once: whoever still knows this task keeps no gigabytes."""
        super().close()
        self.trials, self.touched, self._neighbours = [], {}, None
        self._pools.clear()

    # Trials

    def trial(self, case: Case, family: str, seed: int) -> Trial | None:
        """A trial, or None where the family does not apply or the reference cannot cope with it."""
        return _sound(self.draw_trial(case, family, seed, self.probes[case.name].reduction))

    def begin_fresh(self, case: Case) -> Callable[[], Trial | None]:
        """Has a given trial drawn, from a seed that did not exist before, and gives what fetches it."""
        fetch = self.begin_trial(case, "given", self.seeds.next(), self.probes[case.name].reduction)
        return lambda: _sound(fetch())

    def _trials(self, case: Case) -> Iterator[Trial]:
        probed = self._probe(case)
        yield from self._givens(case, probed)
        for family in case.families:
            if family == "given":
                continue
            trial = self.trial(case, family, self.seeds.next())
            if trial is None:
                self.skipped.append(f"{case.name}/{family}")
            else:
                yield trial

    def pair(self, case: Case) -> tuple[Trial, Trial]:
        """Two given draws of a case."""
        first, second, *_ = [trial for trial in self.trials if trial.case is case and trial.family == "given"]
        return first, second

    def _touched(self, case: Case) -> Iterator[Trial]:
        """The first given draw, a little changed: what a cache with too small a key takes for the same."""
        first, second = self.pair(case)
        for family, inputs in touch.variants(first.inputs, second.inputs):
            expected = self.expect(inputs, self.probes[case.name].reduction)
            if expected.sound:
                yield Trial(case, family, first.seed, inputs, expected)

    def _givens(self, case: Case, probed: Trial) -> list[Trial]:
        """What was drawn for the probe is no trial: how many inputs feed an output was not known then."""
        return [self._given(case) for _ in range(GIVEN_DRAWS)]

    def _given(self, case: Case) -> Trial:
        trial = self.trial(case, "given", self.seeds.next())
        if trial is None:
            raise TaskError(
                f"the reference produces NaN or overflows on case {case.name!r}",
                self.task.origin,
                "draw inputs on which it is defined",
                ("undefined",),
            )
        return trial

    def _probe(self, case: Case) -> Trial:
        first = self.draw_trial(case, "given", self.seeds.next(), 1.0)
        assert first is not None
        self.place(self.worker, first.inputs)
        self._ask(self.worker, {"op": "steadiness"})
        answer = self._ask(self.worker, {"op": "probe"})
        answer.pop("op")
        self.probes[case.name] = Probe(**answer)
        return first

    def neighbours(self) -> list[Trial]:
        if self._neighbours is None:
            self.use_weights(self.weight_seed)
            found = [self._neighbour(case) for case in self.task.neighbours]
            self._neighbours = [trial for trial in found if trial is not None]
        return self._neighbours

    def _neighbour(self, case: Case) -> Trial | None:
        """Nearby sizes at which the reference itself fails prove nothing."""
        self.probes[case.name] = next(iter(self.probes.values()))
        try:
            return self.trial(case, "given", self.seeds.next())
        except TaskError:
            return None

    def operators(self, inputs: Packed) -> dict[str, int]:
        """Elements that the reference's operators read in a call on these inputs, by operator."""
        self.place(self.worker, inputs)
        return dict(self._ask(self.worker, {"op": "survey"})["operators"])

    # Weak tasks

    def _gate(self) -> None:
        """Refuses a task on which a null candidate passes.

        An input returned unchanged moves all the bytes that the answer has. Where it passes on the task's own inputs
        and fails on others (ReLU of positive numbers), that is a flaw to be told, and the task can be judged.
        """
        for case in self.task.cases:
            passed = self._not_by_chance(case, _nulls.passing(*self.pair(case)))
            unchanged = [_nulls.equals_input(trial) for trial in self.trials if trial.case is case]
            if all(unchanged):
                passed.append(_nulls.UNCHANGED)
            elif unchanged[0]:
                self.flaws = ("identity",)
            self.refuse_weak(case, passed)

    def _not_by_chance(self, case: Case, passed: list[str]) -> list[str]:
        """Those that pass on one more draw too: two means of many samples agree now and then."""
        if not passed:
            return []
        again = _nulls.passing(self._given(case), self.pair(case)[0])
        return [name for name in passed if name in again]

    def refuse_weak(self, case: Case, passed: list[str]) -> None:
        """Raises if null candidates passed."""
        if passed:
            raise TaskError(
                f"case {case.name!r} cannot tell a kernel from no kernel: {passed[0]} would pass"
                + (" (the output hardly depends on the inputs)" if "the answer to other inputs" in passed else ""),
                self.task.origin,
                "change the reference or its inputs so that the output depends on them",
                _nulls.flaws(passed),
            )

    # Timing

    def pool(self, case: Case, number: int) -> list[Packed]:
        """At least `number` input sets of a case, as many as memory allows, none of them ever used for checking."""
        pool = self._pools.setdefault(case.name, [])
        size = next(trial.inputs.nbytes for trial in self.trials if trial.case is case)
        most = int(available_memory() * POOL_SHARE / max(1, size)) + len(pool)
        wanted = min(number, max(FEWEST_POOL, min(MOST_POOL, most)))
        while len(pool) < wanted:
            drawn = self.draw(case, "given", self.seeds.next())
            assert drawn is not None
            pool.append(drawn)
        return pool

    def refresh(self, case: Case, index: int) -> Packed:
        """Replaces a set of the pool by one never seen."""
        drawn = self.draw(case, "given", self.seeds.next())
        assert drawn is not None
        self._pools[case.name][index] = drawn
        return drawn
