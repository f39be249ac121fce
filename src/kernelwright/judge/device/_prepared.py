"""A task made ready on a device: trials known by what they are drawn from, slots that inputs are laid in."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kernelwright import native
from kernelwright.judge._channel import Message
from kernelwright.judge._expected import Form
from kernelwright.judge._memory import Leaf
from kernelwright.judge._nulls import UNCHANGED
from kernelwright.judge._prepared import GIVEN_DRAWS, Prepared, Seeds
from kernelwright.judge._process import Answer, Template, Worker
from kernelwright.judge._reference import COMPILE_SECONDS, REFERENCE_SECONDS
from kernelwright.judge._touch import ELEMENTS, MOST_OPERANDS
from kernelwright.judge._tree import Tree
from kernelwright.judge.device._place import Workshop
from kernelwright.tasks import Case, Task, TaskError

ALIGN, EDGE = 512, 256
MOST_SHIFT = 64
SLOT_BYTES, FEWEST_SLOTS, MOST_SLOTS = 2 << 30, 2, 64
# Of a large device inputs may take this share: the more of them, the more calls a go and the steadier a time.
SLOT_SHARE = 1 / 16
# Workers opened before there is a candidate for them: to be checked, to be muted, and three to be timed.
AHEAD = 5


@dataclass(frozen=True, eq=False)
class Drawn:
    """A set of inputs: what it is drawn from, and its form."""

    key: Message
    tree: Tree
    leaves: list[dict[str, Any]]

    @property
    def nbytes(self) -> int:
        return sum(int(leaf["nbytes"]) for leaf in self.leaves)

    @property
    def room(self) -> int:
        return self.nbytes + 2 * ALIGN * len(self.leaves) + MOST_SHIFT * ALIGN

    def at(self, start: int, *, shifted: bool, last: int | None = None, end: int = 0) -> Message:
        """Where its tensors come to lie, in a slot that begins here; the one named `last`, right before `end`."""
        position = start + (random.SystemRandom().randrange(MOST_SHIFT) * ALIGN if shifted else 0)
        placed = []
        for index, leaf in enumerate(self.leaves):
            position += -position % ALIGN
            offset = (end - leaf["nbytes"]) // EDGE * EDGE if index == last else position
            placed.append({name: leaf[name] for name in ("dtype", "shape", "strides")} | {"offset": offset})
            position += leaf["nbytes"] if index != last else 0
        return {"key": self.key, "tree": self.tree, "leaves": placed}

    def anew(self, seed: int) -> Drawn:
        """The same case drawn from another seed."""
        return Drawn({**self.key, "seed": seed}, self.tree, self.leaves)


@dataclass(frozen=True, eq=False)
class DeviceExpected:
    """The form of what is right; its values stay on the device."""

    tree: Tree
    outputs: list[Form]
    sound: bool


@dataclass(frozen=True, eq=False)
class DeviceTrial:
    case: Case
    family: str
    seed: int
    inputs: Drawn
    expected: DeviceExpected

    @property
    def label(self) -> str:
        return f"{self.case.name}/{self.family}"


@dataclass(frozen=True)
class _Form:
    """What all draws of a case look like: outline and tensors of the inputs, and of what is right."""

    inputs: tuple[Tree, list[dict[str, Any]]]
    expected: DeviceExpected


@dataclass
class Slots:
    """The memory that inputs lie in. Before the numbered slots there is one whose contents stay."""

    fd: int
    nbytes: int
    slot_bytes: int
    number: int
    warming: Message | None = None

    def start(self, index: int) -> int:
        return (1 + index % self.number) * self.slot_bytes


class Runner:
    """A baseline in a process of its own, treated as a candidate's is, and trusted."""

    def __init__(self, prepared: DevicePrepared, worker: Worker, name: str) -> None:
        self._prepared, self.worker, self.name = prepared, worker, name
        self._known: set[int] = set()
        self._resting = False

    def rest(self) -> None:
        """Its memory is for others until it is needed again; nobody waits for that."""
        self._prepared.ask({"op": "forget", "whose": self.name})
        self._known.clear()
        with self._prepared.blame(self.worker):
            self.worker.say({"op": "rest"})
        self._resting = True

    def stage(self, calls: list[Message]) -> None:
        if self._resting:
            self._resting = False
            with self._prepared.blame(self.worker):
                self.worker.answer(timeout=REFERENCE_SECONDS)
        self._prepared.stage_calls(self.worker, calls)

    def go(self, op: str = "go") -> Answer:
        with self._prepared.blame(self.worker):
            answer = self.worker.go(timeout=COMPILE_SECONDS, op=op)
        if not isinstance(answer, Answer):
            raise TaskError(f"the baseline {self.name} failed while it was timed", self._prepared.task.origin)
        return answer

    def results(self, answer: Answer) -> list[list[Leaf]]:
        """Where the results of a go lie; the referee has their blocks afterwards."""
        found = [answer.leaves, *(said["leaves"] for said in answer.more)]
        for leaf in (leaf for leaves in found for leaf in leaves):
            if leaf["block"] and leaf["block"] not in self._known:
                fd = self._prepared.shown(self.worker, leaf)
                order = {"op": "block", "whose": self.name, "number": leaf["block"], "nbytes": leaf["nbytes"]}
                self._prepared.ask(order, (fd,))
                os.close(fd)
                self._known.add(leaf["block"])
        return found


class DevicePrepared(Prepared):
    """One task, ready for candidates on a device. Everything that is not about memory is as on the host."""

    def __init__(self, template: Template, workshop: Workshop, task: Task, *, seeds: Seeds) -> None:
        self.workshop = workshop
        self.slots: Slots | None = None
        self._attached: dict[int, Slots] = {}
        self._eager: Worker | None = None
        self._bandwidth: float | None = None
        self._runners: dict[str, Runner] = {}
        self._forms: dict[str, _Form] = {}
        self._loosened: dict[str, list[list[float]]] = {}
        super().__init__(template, task, seeds=seeds)

    def _start(self) -> Worker:
        """The referee first, then who will be asked next: a driver opens one process after the other."""
        referee = self.workshop.referee()
        self.workshop.open_ahead(1, watched=0)
        return referee

    def _open_the_rest(self) -> None:
        """What is needed once a candidate is right: first who is watched, then who is timed.

        All at once: one after the other, the last is not ready when it is wanted.
        """
        self.workshop.open_ahead(1)
        self.workshop.open_ahead(AHEAD)
        self._eager = self._open_runner()
        self.workshop.let_all_in()

    def _open_runner(self) -> Worker:
        return self.workshop.begin_referee(own_allocator=True)

    def ask(self, message: Message, fds: tuple[int, ...] = ()) -> Message:
        """A question to the referee."""
        self.workshop.attend()
        with self._blame(self.worker):
            return self._checked(self.worker.ask(message, fds, timeout=REFERENCE_SECONDS))

    def try_ask(self, message: Message, fds: tuple[int, ...] = ()) -> Message:
        """A question whose failure is an answer too."""
        with self._blame(self.worker):
            return self.worker.ask(message, fds, timeout=REFERENCE_SECONDS)

    # Baselines

    def runners(self, modes: dict[str, str | None]) -> dict[str, Runner]:
        """The reference, as it is and compiled, each in a process of its own."""
        for name, mode in modes.items():
            if name not in self._runners:
                self._runners[name] = Runner(self, self._begin_runner(mode), name)
        return {name: self._runners[name] for name in modes}

    def _begin_runner(self, mode: str | None) -> Worker:
        """The first to be asked for was opened beside the referee."""
        waiting, self._eager = self._eager, None
        worker = self.workshop.opened(waiting or self._open_runner())
        self._ask(worker, {"op": "task", "task": self.task.to_wire(), "seed": self._seed})  # else other weights
        self._ask(worker, {"op": "weights", "seed": self.weight_seed, "touch": False})
        if mode is not None:
            self._ask(worker, {"op": "compile", "mode": mode})
        return worker

    # Trials

    def begin_trial(self, case: Case, family: str, seed: int, reduction: float) -> Callable[[], Any]:
        """A family's inputs are drawn when they are first laid out: their form is that of the given ones."""
        key = {"case": case.to_wire(), "family": family, "seed": seed}
        form = self._forms.get(case.name)
        if family == "given" or form is None:
            drawn = self._draw(key, case, family)
        else:
            drawn = DeviceTrial(case, family, seed, Drawn(key, *form.inputs), form.expected)
        return lambda: drawn

    def _givens(self, case: Case, probed: Any) -> list[Any]:
        """A budget is asked for when it is needed, so the first draw serves as well as any."""
        if not probed.expected.sound:
            return super()._givens(case, probed)
        return [probed, *(self._given(case) for _ in range(GIVEN_DRAWS - 1))]

    def begin_fresh(self, case: Case) -> Callable[[], Any]:
        first: Any = self.pair(case)[0]
        seed = self.seeds.next()
        trial = DeviceTrial(case, "given", seed, first.inputs.anew(seed), first.expected)
        return lambda: trial

    def _draw(self, key: Message, case: Case, label: str) -> DeviceTrial:
        """A trial, with what is right for it."""
        answer = self.ask({"op": "draw", "key": key})
        inputs = Drawn(key, answer["tree"], answer["leaves"])
        return DeviceTrial(case, label, key["seed"], inputs, self._formed(case, answer))

    def _formed(self, case: Case, answer: Message) -> DeviceExpected:
        said = answer["expected"]
        rows = zip(said["leaves"], said["dense"], said["contiguous"], said["aliases"], strict=True)
        forms = [Form(leaf["dtype"], leaf["shape"], *properties) for leaf, *properties in rows]
        expected = DeviceExpected(said["tree"], forms, answer["sound"])
        if expected.sound:
            self._forms[case.name] = _Form((answer["tree"], answer["leaves"]), expected)
        return expected

    def skip(self, label: str) -> None:
        """Notes a trial that the reference itself cannot cope with, or that is but another given one."""
        if label not in self.skipped:
            self.skipped.append(label)

    def _touched(self, case: Case) -> Iterator[Any]:
        """The first given draw, a little changed: what a cache with too small a key takes for the same."""
        first: Any
        first, second = self.pair(case)
        operands = [i for i, leaf in enumerate(first.inputs.leaves) if leaf["dtype"].startswith(("float", "bfloat"))]
        wanted: list[tuple[int | None, int]] = [(None, number) for number in range(ELEMENTS)] if operands else []
        wanted += [(operand, 0) for operand in operands[:MOST_OPERANDS]] if len(first.inputs.leaves) > 1 else []
        for operand, number in wanted:
            label = f"one element changed ({number + 1})" if operand is None else f"only input {operand} changed"
            key = {**first.inputs.key, "touch": {"seed": second.seed, "operand": operand, "time": number}}
            inputs = Drawn(key, first.inputs.tree, first.inputs.leaves)
            yield DeviceTrial(case, label, first.seed, inputs, first.expected)

    def _gate(self) -> None:
        self._open_the_rest()
        for case in self.task.cases:
            first, second = self.pair(case)
            passed = self._passing(first, second)
            if passed not in ([], [UNCHANGED]):  # once may be chance
                again = self._passing(self._given(case), first)
                passed = [name for name in passed if name in again]
            if UNCHANGED in passed and not self._unchanged_everywhere(case, second):
                passed.remove(UNCHANGED)
                self.flaws = ("identity",)
            self.refuse_weak(case, passed)

    def _unchanged_everywhere(self, case: Case, second: Any) -> bool:
        others = [trial for trial in self.trials if trial.case is case and trial.family != "given"]
        others.sort(key=lambda trial: trial.family != "below")  # most that pass by luck fail there
        return all(self._passing(trial, second, only_unchanged=True) for trial in others)

    def _passing(self, trial: Any, other: Any, *, only_unchanged: bool = False) -> list[str]:
        """Which null candidates would be accepted on a trial."""
        keys = [trial.inputs.key, other.inputs.key]
        reduction = self.probes[trial.case.name].reduction
        order = {"op": "nulls", "keys": keys, "only_unchanged": only_unchanged, "reduction": reduction}
        return list(self.ask(order)["passed"])

    def blame(self, worker: Worker) -> Any:
        return self._blame(worker)

    def shown(self, worker: Worker, leaf: Leaf) -> int:
        """The descriptor of a trusted worker's block."""
        with self._blame(worker):
            worker.say({"op": "show", **{name: leaf[name] for name in ("block", "base", "nbytes")}})
            answer, fds = worker.answer_fds(timeout=REFERENCE_SECONDS)
        self._checked(answer)
        return fds[0]

    # Slots

    def room(self, inputs: Drawn) -> Slots:  # type: ignore[override]
        """Slots that these inputs fit; larger ones are made where they do not."""
        if self.slots is None or self.slots.slot_bytes < inputs.room:
            size = inputs.room + -inputs.room % ALIGN
            number = max(FEWEST_SLOTS, min(MOST_SLOTS, _slot_bytes() // size))
            with self._blame(self.worker):
                self.worker.say({"op": "slots", "nbytes": size * (number + 1)})
                answer, fds = self._answer_fds()
            if self.slots is not None:
                os.close(self.slots.fd)
            self.slots = Slots(fds[0], answer["nbytes"], size, number)
        return self.slots

    def lay(self, drawn: list[Drawn], *, first: int = 0, shifted: bool = True) -> list[Message]:
        """Where calls on these inputs will find them, one slot each."""
        slots = max((self.room(inputs) for inputs in drawn), key=lambda slots: slots.slot_bytes)
        return [inputs.at(slots.start(first + index), shifted=shifted) for index, inputs in enumerate(drawn)]

    def lay_at_edge(self, inputs: Drawn, last: int) -> Message:
        """Where a call finds inputs one of which ends where mapped memory does: reading beyond it fails."""
        slots = self.room(inputs)
        return inputs.at(slots.start(slots.number - 1), shifted=False, last=last, end=slots.nbytes)

    def warming_call(self, inputs: Drawn) -> Message:
        """A call on contents that stay as they are while other slots are filled."""
        slots = self.room(inputs)
        if slots.warming is None or slots.warming["key"] != inputs.key:
            slots.warming = inputs.at(0, shifted=False)
            self.fill([slots.warming])
        return slots.warming

    def fill(self, calls: list[Message]) -> None:
        for label in self.ask({"op": "fill", "calls": calls})["inapplicable"]:
            self.skip(label)

    def flush(self) -> None:
        """Drives everything out of the device's caches."""
        self.ask({"op": "flush"})

    def loosened(self, trial: DeviceTrial) -> list[list[float]]:
        """For every output, what two honest results may differ by: its RMS and its peak."""
        if trial.case.name not in self._loosened:
            self._loosened[trial.case.name] = self._ask_loosened(trial)
        return self._loosened[trial.case.name]

    def _ask_loosened(self, trial: DeviceTrial) -> list[list[float]]:
        reduction = self.probes[trial.case.name].reduction
        budgets: list[list[float]] = self.ask({"op": "loosened", "key": trial.inputs.key, "reduction": reduction})[
            "budgets"
        ]
        return budgets

    def carry(self, inputs: Drawn) -> tuple[Tree, list[Leaf], int]:
        """Inputs by value: their outline, where each tensor lies, and the descriptor of the memory that holds them."""
        answer, fds = self._ask_fds({"op": "carry", "key": inputs.key})
        return answer["tree"], answer["leaves"], fds[0]

    def abilities(self) -> Message:
        """What the device can do at best; takes a second."""
        return {name: value for name, value in self.ask({"op": "abilities"}).items() if name != "op"}

    def bandwidth(self, nbytes: int) -> float:
        """Bytes a second that this device can move at best; measured once."""
        if self._bandwidth is None:
            self._bandwidth = float(self.ask({"op": "bandwidth", "nbytes": nbytes})["bytes_per_second"])
        return self._bandwidth

    def attach(self, worker: Worker, *, timeout: float) -> None:
        """Shows the slots to a worker that has not seen them."""
        assert self.slots is not None
        if worker is not self.worker and self._attached.get(id(worker)) is not self.slots:
            worker.ask({"op": "attach", "nbytes": self.slots.nbytes}, (self.slots.fd,), timeout=timeout)
            self._attached[id(worker)] = self.slots

    def detach(self, worker: Worker) -> None:
        self._attached.pop(id(worker), None)

    def stage_calls(self, worker: Worker, calls: list[Message]) -> None:
        """Lays calls before the reference, compiled or not."""
        with self._blame(worker):
            self.attach(worker, timeout=REFERENCE_SECONDS)
            order = {"op": "stage", "calls": calls, "guard": False}
            self._checked(worker.ask(order, timeout=REFERENCE_SECONDS))

    def place(self, worker: Worker, inputs: Drawn) -> Any:  # type: ignore[override]
        calls = self.lay([inputs], shifted=False)
        self.fill(calls)
        self.stage_calls(worker, calls)
        return calls[0]

    def close(self) -> None:
        if self._eager is not None:
            self._eager.dismiss()
        for runner in self._runners.values():
            runner.worker.finish()
        super().close()
        if self.slots is not None:
            os.close(self.slots.fd)
            self.slots = None


def _slot_bytes() -> int:
    device = native.gpu()
    return max(SLOT_BYTES, int(device.memory_bytes * SLOT_SHARE)) if device else SLOT_BYTES
