"""A candidate's process on a device, from the judge's side."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

from kernelwright.judge._channel import Garbage, Message
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Form
from kernelwright.judge._memory import Leaf, count, well_formed
from kernelwright.judge._process import Answer, Template, Worker
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge.device._listing import ENDINGS, Compiled, taken_apart
from kernelwright.judge.device._prepared import DeviceExpected, DevicePrepared, DeviceTrial, Drawn

_numbers = itertools.count(1)


class DeviceContestant(Contestant):
    """One process that has loaded a candidate and sees the device."""

    _prepared: DevicePrepared
    profiler = False

    def _fork(self, template: Template) -> Worker:
        self.name = str(next(_numbers))
        self._known: set[int] = set()
        self._guarded = False
        self._staged: list[Message] = []
        self._opening, self._warming = True, False
        return self._prepared.workshop.candidate(profiler=self.profiler)

    # Loading

    def _begin_load(self) -> None:
        """Once its process has opened the device, which is no doing of the candidate's."""
        self._prepared.workshop.opened(self.worker)
        self._opening = False
        super()._begin_load()

    def try_loading(self, *, wait: bool) -> None:
        """Has it loaded, if that can be done now."""
        if self._opening and (wait or self.worker.answered()):
            self._begin_load()

    def try_warming(self, trial: DeviceTrial, *, wait: bool) -> None:
        """Has a first call made, if it is loaded now."""
        if not (self._opening or self._warming) and (wait or self.worker.answered()):
            self.loaded()
            self._begin_warming(trial)

    # Calling

    def call(  # type: ignore[override]
        self, inputs: Drawn, *, slot: int = 0, shifted: bool = True, guard: bool = False
    ) -> tuple[Message, Answer]:
        calls = self._prepared.lay([inputs], first=slot, shifted=shifted)
        self._prepared.fill(calls)
        self.stage_calls(calls, guard=guard)
        return calls[0], self.go()

    def stage_calls(self, calls: list[Message], *, guard: bool = False) -> None:
        """Tells the process where the inputs of its next calls lie."""
        self._guarded = guard
        self._staged = [{"tree": call["tree"], "leaves": call["leaves"]} for call in calls]
        with self.judged():
            self._prepared.attach(self.worker, timeout=self.call_limit)
            order = {"op": "stage", "calls": self._staged, "guard": guard}
            self.check_answer(self.worker.ask(order, timeout=self.call_limit))

    def drop_results(self) -> None:
        with self.judged():
            self.check_answer(self.worker.ask({"op": "drop"}, timeout=self.call_limit))

    def _begin_warming(self, trial: DeviceTrial) -> None:
        """Has a call made whose result nobody looks at, while something else goes on: compilers take their time."""
        self._warming = True
        self.stage_calls([self._prepared.warming_call(trial.inputs)])
        with self.judged():
            self.worker.begin("warm")

    def end_warming(self) -> None:
        with self.judged():
            self.note(self.worker.end_call(timeout=self.call_limit))

    # Looking

    def results(self, answer: Answer, number: int, expected: DeviceExpected) -> list[Answer]:
        """The results of one go, each of the right form."""
        with self.judged():
            if len(answer.more) != number - 1:
                raise Garbage("another number of results than of calls")
            each = [answer, *(Answer(said["tree"], said["leaves"], answer.seconds, []) for said in answer.more)]
        for one in each:
            self.check_structure(one, expected)  # type: ignore[arg-type]
        return each

    def _check_finished(self, answer: Answer) -> None:
        """On a device this is seen when results are read; here, only whether blocks are named at all."""
        for leaf in answer.leaves:
            if not all(type(leaf.get(name)) is int for name in ("block", "offset", "nbytes")):
                raise Garbage("no block for a result")

    def _check_leaf(self, name: str, leaf: Leaf, output: Form) -> None:
        super()._check_leaf(name, leaf, output)
        if count(leaf) and not leaf["block"]:
            raise Rejection(
                Status.WRONG_STRUCTURE,
                f"{name} does not lie in memory that torch allocated: an input's, or memory of its own",
            )

    def _inside_inputs(self, leaf: Leaf) -> bool:
        return False  # such a leaf lies in no block

    def show_blocks(self, results: list[Answer]) -> None:
        """Hands the blocks of results to the referee, those it does not have."""
        for leaf in (leaf for result in results for leaf in result.leaves):
            if leaf["block"] and leaf["block"] not in self._known:
                with self.judged():
                    fd = self._shown(leaf)
                try:
                    order = {"op": "block", "whose": self.name, "number": leaf["block"], "nbytes": leaf["nbytes"]}
                    self._take(order, fd)
                finally:
                    os.close(fd)
                self._known.add(leaf["block"])

    def knows(self, said: Message) -> bool:
        """Whether the referee has every block that a result is said to lie in."""
        leaves = said.get("leaves")
        return isinstance(leaves, list) and all(
            isinstance(leaf, dict) and leaf.get("block") in self._known and well_formed(leaf) for leaf in leaves
        )

    def _shown(self, leaf: Leaf) -> int:
        self.worker.say({"op": "show", **{name: leaf[name] for name in ("block", "base", "nbytes")}})
        answer, fds = self.worker.answer_fds(timeout=self.call_limit)
        self.check_answer(answer)
        if len(fds) != 1:
            for fd in fds:
                os.close(fd)
            raise Garbage("no descriptor of a result's memory")
        return fds[0]

    def _take(self, order: Message, fd: int) -> None:
        answer = self._prepared.try_ask(order, (fd,))
        if answer["op"] == "failed":
            raise Rejection(Status.TAMPER, "names memory for its result that cannot be read", stage=self.stage_name)

    def measure(
        self,
        trial: DeviceTrial,
        result: Answer,
        reduction: float,
        *,
        index: int = 0,
        like: Message | None = None,
        brief: bool = False,
    ) -> tuple[list[Message], bool]:
        """What the referee finds: for every output how much of the budget is used, and whether it wrote beyond.

        `index`: of which of the calls staged last this is the result. `brief`: where it is wrong, not what is.
        """
        self.show_blocks([result])
        order = {
            "op": "measure",
            "whose": self.name,
            "key": trial.inputs.key,
            "call": self._staged[index],
            "like": like,
            "leaves": result.leaves,
            "reduction": reduction,
            "guarded": self._guarded,
            "brief": brief,
        }
        answer = self._prepared.ask(order)
        if not answer["sound"]:
            self._prepared.skip(trial.label)
            return [], False
        return answer["outputs"], answer["strayed"]

    def let_go(self) -> None:
        """The referee forgets this process's blocks."""
        if self._known:
            self._known.clear()
            self._prepared.ask({"op": "forget", "whose": self.name})

    # Nothing unasked

    def seal(self) -> None:
        """From here on it may start nothing, and what it has started is gone. Looked at from outside."""
        with self.judged():
            self.check_answer(self.worker.ask({"op": "seal"}, timeout=self.call_limit))
        self.check_alone()

    def check_alone(self) -> None:
        if _filters(self.worker.pid) < 2 and self._prepared.workshop.filtered:
            raise Rejection(Status.TAMPER, "did not let itself be sealed before it was timed", stage=self.stage_name)
        others = _companions(self.worker.pid)
        if others:
            message = f"keeps {len(others)} other process{'es' if len(others) > 1 else ''} while it is timed"
            raise Rejection(Status.TAMPER, message, stage=self.stage_name)

    def close(self) -> None:
        self.let_go()  # while the process still holds its memory: then letting go costs nothing
        self._prepared.detach(self.worker)
        super().close()


class Profiled(DeviceContestant):
    """One whose kernels can be seen. It is never timed."""

    profiler = True

    def compiled_files(self, endings: tuple[str, ...] = ENDINGS) -> list[Compiled]:
        """What Triton compiled, as its process hands it over: files with these endings."""
        with self.judged():
            self.worker.say({"op": "compiled", "endings": list(endings)})
            answer, fds = self.worker.answer_fds(timeout=self.call_limit)
            try:
                self.check_answer(answer)
                if len(fds) != 1:
                    raise Garbage("no descriptor of what was compiled")
                return taken_apart(answer["files"], fds[0])
            finally:
                for fd in fds:
                    os.close(fd)


def _filters(pid: int) -> int:
    """How many system-call filters the kernel has over a process."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("Seccomp_filters:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def _companions(pid: int) -> list[int]:
    """What else lives below the supervisor of a worker, and below the worker."""
    try:
        supervisor = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return [other for other in _below(supervisor) if other != pid]
    except (OSError, ValueError):
        return []


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
            found += [int(child), *_below(int(child))]
    return found


def outputs_over(found: list[Message]) -> tuple[int, Any] | None:
    """The first output that is over its budget, with the evidence."""
    for index, said in enumerate(found):
        if said["used"] == "infinite" or said["used"] > 1:
            return index, said.get("evidence", {})
    return None
