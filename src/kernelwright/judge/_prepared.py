"""A task made ready to judge on: its reference running in a worker, trials drawn, answers known, weaknesses found.

Preparing is paid once a task; every candidate then meets trials from a seed it could not have seen, in a process
that did not exist when they were drawn, and one more trial whose seed is drawn after it was loaded.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelwright.judge import _nulls
from kernelwright.judge._channel import ChannelError, Closed, Message, Silent
from kernelwright.judge._expected import Expected, Trial
from kernelwright.judge._limits import Limits, available_memory
from kernelwright.judge._memory import Packed, Placed, Stage, same_bytes
from kernelwright.judge._process import Answer, Template, Worker
from kernelwright.judge._sandbox import Cage
from kernelwright.tasks import Case, Task, TaskError

SLOTS = 3
GIVEN_DRAWS = 3
REFERENCE_SECONDS = 300.0
COMPILE_SECONDS = 600.0
NO_DISK_LIMIT = 1 << 40
POOL_SHARE = 0.12
FEWEST_POOL, MOST_POOL = 4, 64


@dataclass(frozen=True)
class Probe:
    """How a case depends on its inputs: the least work any kernel must do."""

    flops: int
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
        mixed = (self.master + self._count) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        return (mixed ^ mixed >> 29) & (1 << 62) - 1


class Prepared:
    """One task, its reference at work."""

    def __init__(self, template: Template, task: Task, *, limits: Limits, seeds: Seeds) -> None:
        self.task, self._template, self._limits, self.seeds = task, template, limits, seeds
        self.stage: Stage | None = None
        self.worker = self._start()
        self._compiled: dict[str, Worker] = {}
        self._weights: tuple[int, list[dict[str, Any]], int] | None = None
        self._pools: dict[str, list[Packed]] = {}
        self._neighbours: list[Trial] | None = None
        answer = self._ask(self.worker, {"op": "task", "task": task.to_wire(), "seed": seeds.next()})
        self.init, self.weight_shapes = answer["init"], answer["weights"]
        self.weight_seed = seeds.next()
        self.use_weights(self.weight_seed)
        self.probes: dict[str, Probe] = {}
        self.skipped: list[str] = []
        self.trials = [trial for case in task.cases for trial in self._trials(case)]
        self.warnings: list[str] = []
        self._gate()

    # The reference's worker

    def _start(self) -> Worker:
        memory = int(available_memory() * 0.7)
        cage = Cage(namespaces=False, memory_bytes=memory, disk_bytes=NO_DISK_LIMIT, programs=True)
        return self._template.fork("reference", cage=cage)

    def _ask(self, worker: Worker, message: Message, *, timeout: float = REFERENCE_SECONDS) -> Message:
        with self._blame(worker):
            return self._checked(worker.ask(message, timeout=timeout))

    def _ask_fds(self, message: Message) -> tuple[Message, list[int]]:
        with self._blame(self.worker):
            answer, fds = self.worker.ask_fds(message, timeout=REFERENCE_SECONDS)
            return self._checked(answer), fds

    def _blame(self, worker: Worker) -> _Blame:
        return _Blame(self.task, worker)

    def _checked(self, answer: Message) -> Message:
        if answer["op"] != "failed":
            return answer
        where = self.task.origin
        if answer["kind"] == "broken":
            raise TaskError(answer["message"], where, answer["fix"])
        if answer["kind"] == "memory":
            raise too_large(where, "the reference runs out of memory")
        raise TaskError(f"the reference raises {answer['type']}: {answer['message']}", where, answer["trace"])

    # Weights

    def use_weights(self, seed: int, worker: Worker | None = None) -> None:
        """Gives the reference (and a compiled one) the weights of this seed."""
        if worker is not None:
            answer, fds = worker.ask_fds({"op": "weights", "seed": seed}, timeout=REFERENCE_SECONDS)
            self._checked(answer)
            os.close(fds[0])
            return
        if self._weights is not None and self._weights[0] == seed:
            return
        answer, fds = self._ask_fds({"op": "weights", "seed": seed})
        if self._weights is not None:
            os.close(self._weights[2])
        self._weights = (seed, answer["leaves"], fds[0])
        for other in self._compiled.values():
            self.use_weights(seed, other)

    def weights(self) -> tuple[list[dict[str, Any]], int]:
        """The weights now in force: where each lies in the shared memory behind the descriptor."""
        assert self._weights is not None
        return self._weights[1], self._weights[2]

    # Drawing

    def draw(self, case: Case, family: str, seed: int) -> Packed | None:
        answer, fds = self._ask_fds({"op": "draw", "case": case.to_wire(), "family": family, "seed": seed})
        if answer["op"] == "inapplicable":
            return None
        packed = Packed.from_fd(fds[0], answer["tree"], answer["leaves"])
        if packed.nbytes > available_memory() / 6:
            raise too_large(self.task.origin, f"one set of inputs takes {packed.nbytes / 1e9:.1f} GB")
        return packed

    def room(self, inputs: Packed) -> Stage:
        """A stage that these inputs fit; a larger one is made where they do not."""
        needed = Stage.needed(inputs)
        if self.stage is None or self.stage.slot_bytes < needed:
            if self.stage is not None:
                self.stage.close()
            self.stage = Stage(needed, SLOTS)
        return self.stage

    def place(self, worker: Worker, inputs: Packed, slot: int = 0, *, shifted: bool = False) -> Placed:
        """Lays inputs before the reference."""
        stage = self.room(inputs)
        placed = stage.place(inputs, slot, shifted=shifted)
        with self._blame(worker):
            worker.attach(stage, timeout=REFERENCE_SECONDS)
            self._checked(worker.stage(placed, timeout=REFERENCE_SECONDS))
        return placed

    def expect(self, inputs: Packed, reduction: float) -> Expected:
        placed = self.place(self.worker, inputs)
        answer, fds = self._ask_fds({"op": "expect"})
        packed = Packed.from_fd(fds[0], answer["tree"], answer["leaves"])
        self._unchanged(placed)
        return Expected.from_message(answer, packed, reduction, self.task.precision)

    def _unchanged(self, placed: Placed) -> None:
        assert self.stage is not None
        if not same_bytes(self.worker.input_bytes(placed), self.stage.content(placed)):
            raise TaskError(
                "the reference changes its inputs in place",
                self.task.origin,
                "let forward work on a copy: x = x.clone()",
            )

    def trial(self, case: Case, family: str, seed: int) -> Trial | None:
        """A trial, or None where the family does not apply or the reference cannot cope with it."""
        inputs = self.draw(case, family, seed)
        if inputs is None:
            return None
        expected = self.expect(inputs, self.probes[case.name].reduction if case.name in self.probes else 1.0)
        return Trial(case, family, seed, inputs, expected) if expected.sound else None

    def _trials(self, case: Case) -> Iterator[Trial]:
        self._probe(case)
        for _ in range(GIVEN_DRAWS):
            yield self._given(case)
        for family in case.families:
            if family == "given":
                continue
            trial = self.trial(case, family, self.seeds.next())
            if trial is None:
                self.skipped.append(f"{case.name}/{family}")
            else:
                yield trial

    def _given(self, case: Case) -> Trial:
        seed = self.seeds.next()
        inputs = self.draw(case, "given", seed)
        assert inputs is not None
        expected = self.expect(inputs, self.probes[case.name].reduction)
        if not expected.sound:
            raise TaskError(
                f"the reference produces NaN or overflows on case {case.name!r}",
                self.task.origin,
                "draw inputs on which it is defined",
            )
        return Trial(case, "given", seed, inputs, expected)

    def _probe(self, case: Case) -> None:
        inputs = self.draw(case, "given", self.seeds.next())
        assert inputs is not None
        self.expect(inputs, 1.0)
        self.place(self.worker, inputs)
        self._ask(self.worker, {"op": "steadiness"})
        answer = self._ask(self.worker, {"op": "probe"})
        answer.pop("op")
        self.probes[case.name] = Probe(**answer)

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

    # Weak tasks

    def _gate(self) -> None:
        for case in self.task.cases:
            mine = [trial for trial in self.trials if trial.case is case and trial.family == "given"]
            passed = _nulls.passing(mine[0], mine[1])
            if _nulls.equals_input(mine[0]):
                passed.append("an input, returned unchanged")
            if passed:
                raise TaskError(
                    f"case {case.name!r} cannot tell a kernel from no kernel: {passed[0]} would pass"
                    + (" (the output hardly depends on the inputs)" if "the answer to other inputs" in passed else ""),
                    self.task.origin,
                    "change the reference or its inputs so that the output depends on them",
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

    def compiled(self, mode: str) -> Worker:
        """The reference under torch.compile, in a process of its own."""
        if mode not in self._compiled:
            worker = self._start()
            self._ask(worker, {"op": "task", "task": self.task.to_wire(), "seed": 0})
            assert self._weights is not None
            self.use_weights(self._weights[0], worker)
            self._ask(worker, {"op": "compile", "mode": mode})
            self._compiled[mode] = worker
        return self._compiled[mode]

    def call(self, worker: Worker, inputs: Packed, *, timeout: float = COMPILE_SECONDS) -> Answer:
        """One call of the reference, compiled or not."""
        self.place(worker, inputs)
        with self._blame(worker):
            answer = worker.go(timeout=timeout)
        if isinstance(answer, Answer):
            return answer
        self._checked(answer)
        raise TaskError("the reference gave no answer", self.task.origin)

    def close(self) -> None:
        for worker in (self.worker, *self._compiled.values()):
            worker.finish()
        if self.stage is not None:
            self.stage.close()
        if self._weights is not None:
            os.close(self._weights[2])


class _Blame:
    """Turns a reference worker's silence or death into a sentence about the task."""

    def __init__(self, task: Task, worker: Worker) -> None:
        self._task, self._worker = task, worker

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ChannelError):
            return
        where = self._task.origin
        if isinstance(error, Silent):
            self._worker.finish()
            raise TaskError(
                f"the reference gave no answer in {REFERENCE_SECONDS:.0f} s",
                where,
                "make the task smaller: --fit, or --set NAME=VALUE",
            ) from error
        end = self._worker.died() if isinstance(error, Closed) else self._worker.finish()
        if end.signal == 9:
            raise too_large(where, "the reference was killed for lack of memory") from error
        raise TaskError(
            f"the reference's process died (signal {end.signal}, exit {end.exit})", where, end.output[-2000:]
        ) from error


def too_large(where: str, what: str) -> TaskError:
    return TaskError(
        f"the task does not fit in this machine's memory: {what}",
        where,
        "make it smaller: --fit, or --set NAME=VALUE",
    )
