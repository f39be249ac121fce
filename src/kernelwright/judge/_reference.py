"""The reference at work, from the judge's side: drawing inputs and weights, saying what is right, being timed.

A failure here is never a candidate's. What the reference's worker says in words becomes a TaskError; its silence
or death becomes one too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from kernelwright.judge._channel import ChannelError, Closed, Message, Silent
from kernelwright.judge._expected import Expected, Trial
from kernelwright.judge._limits import available_memory
from kernelwright.judge._memory import Array, Packed, Placed, Stage, extent
from kernelwright.judge._process import Answer, Template, Worker
from kernelwright.judge._sandbox import Cage
from kernelwright.tasks import Case, Task, TaskError

# The slots that a candidate's inputs may lie in, and behind them the reference's own.
SLOTS = OWN_SLOT = 3
REFERENCE_SECONDS = 300.0
COMPILE_SECONDS = 600.0
NO_DISK_LIMIT = 1 << 40


class Reference:
    """One task's reference in a worker of its own, and compiled ones beside it where asked for."""

    def __init__(self, template: Template, task: Task, *, seed: int) -> None:
        self.task, self._template, self._seed = task, template, seed
        self.stage: Stage | None = None
        self.worker = self._start()
        self._compiled: dict[str, Worker] = {}
        self._swayed: tuple[Packed, list[Array]] | None = None
        self._asked, self._received = 0, 0
        self._drawn: dict[int, tuple[Message, list[int]]] = {}
        self._weights: tuple[int, list[dict[str, Any]], int] | None = None
        answer = self._ask(self.worker, {"op": "task", "task": task.to_wire(), "seed": seed})
        self.init, self.weight_shapes = answer["init"], answer["weights"]

    def _start(self) -> Worker:
        return self._fork("reference")

    def _fork(self, role: str) -> Worker:
        memory = int(available_memory() * 0.7)
        cage = Cage(namespaces=False, memory_bytes=memory, disk_bytes=NO_DISK_LIMIT, programs=True)
        return self._template.fork(role, cage=cage)

    def _ask(self, worker: Worker, message: Message, *, timeout: float = REFERENCE_SECONDS) -> Message:
        self._settle(self._asked)
        with self._blame(worker):
            return self._checked(worker.ask(message, timeout=timeout))

    def _ask_fds(self, message: Message) -> tuple[Message, list[int]]:
        self._say(message)
        return self._answer_fds()

    def _say(self, message: Message) -> None:
        self._settle(self._asked)
        with self._blame(self.worker):
            self.worker.say(message)

    def _settle(self, last: int) -> None:
        """Receives what was begun, up to the draw of this number."""
        while self._received < last:
            self._received += 1
            self._drawn[self._received] = self._answer_fds()

    def _answer_fds(self) -> tuple[Message, list[int]]:
        with self._blame(self.worker):
            answer, fds = self.worker.answer_fds(timeout=REFERENCE_SECONDS)
            return self._checked(answer), fds

    def _blame(self, worker: Worker) -> _Blame:
        return _Blame(self.task, worker)

    def _checked(self, answer: Message) -> Message:
        if answer["op"] != "failed":
            return answer
        where = self.task.origin
        if answer["kind"] == "broken":
            flaws = (answer["flaw"],) if answer["flaw"] else ()
            raise TaskError(answer["message"], where, answer["fix"], flaws)
        if answer["kind"] == "memory":
            raise too_large(where, "the reference runs out of memory")
        raise TaskError(f"the reference raises {answer['type']}: {answer['message']}", where, answer["trace"])

    # Weights

    def use_weights(self, seed: int, *, touch: bool = False) -> None:
        """Gives the reference the weights of this seed; or (touch) changes only a few elements of those in force."""
        if self._weights is not None and self._weights[0] == seed:
            return
        answer, fds = self._ask_fds({"op": "weights", "seed": seed, "touch": touch})
        if self._weights is not None:
            os.close(self._weights[2])
        self._weights = (seed, answer["leaves"], fds[0])
        self._swayed = None

    def weights(self) -> tuple[list[dict[str, Any]], int]:
        """The weights now in force: where each lies in the shared memory behind the descriptor."""
        assert self._weights is not None
        return self._weights[1], self._weights[2]

    # Drawing

    def draw(self, case: Case, family: str, seed: int) -> Packed | None:
        """New inputs, or None where the family does not apply to this case."""
        order = {"op": "draw", "case": case.to_wire(), "family": family, "seed": seed, "expect": False}
        answer, fds = self._ask_fds(order)
        return self._inputs(answer, fds) if answer["op"] == "drawn" else None

    def draw_trial(self, case: Case, family: str, seed: int, reduction: float) -> Trial | None:
        """New inputs and what is right for them."""
        return self.begin_trial(case, family, seed, reduction)()

    def begin_trial(self, case: Case, family: str, seed: int, reduction: float) -> Callable[[], Trial | None]:
        """Has a trial drawn, and gives what fetches it; other questions meanwhile wait until it is drawn."""
        order = {"op": "draw", "case": case.to_wire(), "family": family, "seed": seed, "expect": True}
        with self._blame(self.worker):
            self.worker.say(order)
        number = self._asked = self._asked + 1

        def fetch() -> Trial | None:
            self._settle(number)
            answer, fds = self._drawn.pop(number)
            if answer["op"] != "drawn":
                return None
            inputs = self._inputs(answer, fds)
            return Trial(case, family, seed, inputs, self._expected(answer, fds[1], reduction))

        return fetch

    def _inputs(self, answer: Message, fds: list[int]) -> Packed:
        packed = Packed.from_fd(fds[0], answer["tree"], answer["leaves"])
        if packed.nbytes > available_memory() / 6:
            raise too_large(self.task.origin, f"one set of inputs takes {packed.nbytes / 1e9:.1f} GB")
        self.room(packed)
        return packed

    def _expected(self, answer: Message, fd: int, reduction: float) -> Expected:
        said = answer["expected"]
        packed = Packed.from_fd(fd, said["tree"], said["leaves"])
        return Expected.from_message(said, packed, reduction, self.task.precision)

    def room(self, inputs: Packed) -> Stage:
        """A stage that these inputs fit; a larger one is made where they do not."""
        needed = Stage.needed(inputs)
        if self.stage is None or self.stage.slot_bytes < needed:
            if self.stage is not None:
                self.stage.close()
            self.stage = Stage(needed, SLOTS + 1)
        return self.stage

    def place(self, worker: Worker, inputs: Packed) -> Placed:
        """Lays inputs before the reference, in a slot where no candidate looks."""
        self._settle(self._asked)
        stage = self.room(inputs)
        placed = stage.place(inputs, OWN_SLOT, shifted=False)
        stage.fill(placed)
        with self._blame(worker):
            worker.attach(stage, timeout=REFERENCE_SECONDS)
            self._checked(worker.stage(placed, timeout=REFERENCE_SECONDS))
        return placed

    def expect(self, inputs: Packed, reduction: float) -> Expected:
        """What is right for inputs that were drawn before."""
        self.place(self.worker, inputs)
        answer, fds = self._ask_fds({"op": "expect"})
        return self._expected(answer, fds[0], reduction)

    def sway(self, inputs: Packed) -> list[Array]:
        """How far each element of each output moves when the inputs move by a rounding error; the last is kept."""
        if self._swayed is not None and self._swayed[0] is inputs:
            return self._swayed[1]
        self.place(self.worker, inputs)
        answer, fds = self._ask_fds({"op": "sway"})
        packed = Packed.from_fd(fds[0], {}, answer["leaves"])
        self._swayed = (inputs, [packed.values(index) for index in range(len(packed.leaves))])
        return self._swayed[1]

    def operations(self, inputs: Packed) -> dict[str, Any]:
        """How many floating point operations the reference asks for on these inputs; see `worker/_operations.py`."""
        self.place(self.worker, inputs)
        answer = self._ask(self.worker, {"op": "operations"})
        return {name: value for name, value in answer.items() if name != "op"}

    def compiled(self, mode: str) -> Worker:
        """The reference under torch.compile, in a process of its own."""
        if mode not in self._compiled:
            worker = self._fork("compiled")
            self._ask(worker, {"op": "task", "task": self.task.to_wire(), "seed": self._seed})
            assert self._weights is not None
            self._ask(worker, {"op": "weights", "seed": self._weights[0], "touch": False})
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

    def try_once(self) -> tuple[int, float]:
        """Draws and calls every case once: bytes of all inputs and results, and seconds of the slowest."""
        drawn = [self.draw(case, "given", seed=0) for case in self.task.cases]
        tried = [(inputs.nbytes, self.call(self.worker, inputs)) for inputs in drawn if inputs is not None]
        size = sum(given + sum(map(extent, answer.leaves)) for given, answer in tried)
        return size, max(answer.seconds for _, answer in tried)

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


class TooLarge(TaskError):
    """There is no room for the reference."""


def too_large(where: str, what: str) -> TooLarge:
    return TooLarge(
        f"the task does not fit in this machine's memory: {what}",
        where,
        "make it smaller: --fit, or --set NAME=VALUE",
    )
