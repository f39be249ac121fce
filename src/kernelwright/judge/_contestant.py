"""A candidate's process from the judge's side: load it, call it, look at what it returned. Believes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kernelwright.judge._builder import Builder
from kernelwright.judge._channel import Closed, Garbage, Message, Silent
from kernelwright.judge._expected import Expected, Output
from kernelwright.judge._limits import Limits
from kernelwright.judge._memory import (
    NUMPY,
    Array,
    Leaf,
    Packed,
    Placed,
    Unreadable,
    count,
    extent,
    same_bytes,
    well_formed,
)
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._process import Answer, Template, verdict_of_end
from kernelwright.judge._sandbox import Cage
from kernelwright.judge._status import Rejection, Status
from kernelwright.judge._tree import Tree, foreign, outline

# OpenMP's threads spin for some milliseconds after a call before they sleep.
GRACE_SECONDS, IDLE_SECONDS, IDLE_SHARE = 0.03, 0.02, 0.1
FAILED = {"compile": Status.COMPILE_ERROR, "memory": Status.OOM}


class Contestant:
    """One process that has loaded a candidate."""

    def __init__(
        self, template: Template, prepared: Prepared, builder: Builder, source: str, *, limits: Limits
    ) -> None:
        self._prepared, self._limits, self._source = prepared, limits, source
        cage = Cage(
            namespaces=template.isolation.namespaces,
            memory_bytes=limits.memory_bytes,
            disk_bytes=limits.disk_bytes,
        )
        self._deadline = time.monotonic() + limits.total_s
        self.worker = template.fork("candidate", cage=cage)
        self.worker.serve = builder.serve
        self.stage_name = "load"
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    # Loading

    def _load(self) -> None:
        order = {
            "op": "load",
            "source": self._source,
            "init": self._prepared.init,
            "mode": self._prepared.task.mode,
        }
        answer = self.ask(order, timeout=self._limits.load_s)
        self._compare_weights(answer.get("weights"))
        self.give_weights()

    def _compare_weights(self, own: object) -> None:
        wanted = self._prepared.weight_shapes
        if not isinstance(own, dict):
            raise Rejection(Status.TAMPER, "did not say which weights it has")
        missing, extra = sorted(wanted.keys() - own.keys()), sorted(own.keys() - wanted.keys())
        if missing or extra:
            raise Rejection(
                Status.WRONG_STRUCTURE,
                "its parameters and buffers do not have the reference's names: "
                + "; ".join(_listed(word, names) for word, names in (("missing", missing), ("extra", extra)) if names),
                missing=missing,
                extra=extra,
            )
        for name, shape in wanted.items():
            if own[name] != shape:
                raise Rejection(
                    Status.WRONG_STRUCTURE,
                    f"weight {name} has shape {own[name]}, the reference's has {shape}",
                )

    def give_weights(self) -> None:
        """The weights now in force in the reference."""
        leaves, fd = self._prepared.weights()
        if leaves:
            self.ask({"op": "weights", "leaves": leaves}, (fd,), timeout=self._limits.load_s)

    # Calling

    def ask(self, message: Message, fds: tuple[int, ...] = (), *, timeout: float) -> Message:
        with self.judged():
            return self.check_answer(self.worker.ask(message, fds, timeout=self._left(timeout)))

    def call(
        self,
        inputs: Packed,
        *,
        slot: int = 0,
        shifted: bool = True,
        guard: bool = False,
        previous: str = "drop",
    ) -> tuple[Placed, Answer]:
        placed = self.lay(inputs, slot=slot, shifted=shifted, guard=guard, previous=previous)
        return placed, self.go()

    def lay(self, inputs: Packed, *, slot: int, shifted: bool, guard: bool = False, previous: str = "drop") -> Placed:
        stage = self._prepared.room(inputs)
        placed = stage.place(inputs, slot, shifted=shifted)
        stage.fill(placed)
        self.lay_placed(placed, guard=guard, previous=previous)
        return placed

    def lay_placed(self, placed: Placed, *, guard: bool = False, previous: str = "drop") -> None:
        assert self._prepared.stage is not None
        with self.judged():
            self.worker.attach(self._prepared.stage, timeout=self._limits.call_s)
            answer = self.worker.stage(placed, timeout=self._limits.call_s, guard=guard, previous=previous)
            self.check_answer(answer)

    def go(self) -> Answer:
        with self.judged():
            answer = self.worker.go(timeout=self._left(self._limits.call_s))
            if isinstance(answer, Answer):
                return answer
            self.check_answer(answer)
            raise Garbage("neither a result nor a reason")

    def _left(self, timeout: float) -> float:
        return max(0.0, min(timeout, self._deadline - time.monotonic()))

    def check_answer(self, answer: Message) -> Message:
        if answer.get("op") != "failed":
            return answer
        during = Status.LOAD_ERROR if self.stage_name == "load" else Status.CRASH
        status = FAILED.get(str(answer.get("kind")), during)
        headline = str(answer.get("message", "")).strip().split("\n")[0]
        raise Rejection(
            status,
            headline if status is Status.COMPILE_ERROR else f"raised {answer.get('type')}: {headline}",
            log=answer.get("log", ""),
            trace=answer.get("trace", ""),
            stage=self.stage_name,
        )

    @contextmanager
    def judged(self) -> Iterator[None]:
        """What a worker's silence, death or babble means for the candidate inside it."""
        try:
            yield
        except Silent as error:
            end = self.worker.finish()
            limit = self._limits.load_s if self.stage_name == "load" else self._limits.call_s
            raise Rejection(
                Status.TIMEOUT,
                f"gave no answer within {limit:g} s during {self.stage_name}",
                stage=self.stage_name,
                output=end.output[-4000:],
            ) from error
        except Closed as error:
            raise verdict_of_end(self.worker.died(), self.stage_name) from error
        except (Garbage, KeyError, TypeError, ValueError) as error:
            raise Rejection(
                Status.TAMPER, f"forged the worker's messages during {self.stage_name}", detail=str(error)
            ) from error
        except Unreadable as error:
            raise Rejection(
                Status.TAMPER,
                f"names memory for its result that cannot be read: {error}",
                stage=self.stage_name,
            ) from error

    # Looking

    def values(self, leaf: Leaf) -> Array:
        with self.judged():
            return self.worker.reader.tensor(leaf)

    def check_structure(self, answer: Answer, expected: Expected) -> None:
        kind = _foreign(answer.tree)
        if kind:
            raise Rejection(Status.WRONG_STRUCTURE, f"returns a {kind} where the reference returns a plain tensor")
        if _normal(answer.tree) != _normal(expected.tree):
            raise Rejection(
                Status.WRONG_STRUCTURE,
                f"returns {outline(answer.tree)} where the reference returns {outline(expected.tree)}",
            )
        if len(answer.leaves) != len(expected.outputs) or not all(map(well_formed, answer.leaves)):
            raise Rejection(Status.TAMPER, "describes its result in a way no tensor can have")
        with self.judged():
            self._check_finished(answer)
        for index, (leaf, output) in enumerate(zip(answer.leaves, expected.outputs, strict=True)):
            self._check_leaf(f"output {index}" if len(answer.leaves) > 1 else "the output", leaf, output)

    def _check_finished(self, answer: Answer) -> None:
        """What stood in the result when the call returned still stands there now."""
        for leaf, early in zip(answer.leaves, answer.early, strict=True):
            size = NUMPY[leaf["dtype"]].itemsize
            offsets = [offset for offset, _ in early]
            if bool(offsets) != bool(count(leaf)) or not all(_is_place(offset, leaf, size) for offset in offsets):
                raise Garbage("no glance at the result")
            if not offsets:
                continue
            now = bytes(self.worker.reader.sample(leaf, offsets, size))
            if now != bytes.fromhex("".join(text for _, text in early)):
                message = "its result was not finished when it returned; it changed afterwards"
                raise Rejection(Status.TAMPER, message, stage=self.stage_name)

    def check_idle(self) -> None:
        """Between calls nothing may run: whoever watches for inputs could start before the clock does."""
        with self.judged():
            time.sleep(GRACE_SECONDS)
            before = self.worker.cpu_seconds()
            time.sleep(IDLE_SECONDS)
            busy = (self.worker.cpu_seconds() - before) / IDLE_SECONDS
        if busy > IDLE_SHARE:
            raise Rejection(
                Status.TAMPER, f"keeps running between calls ({busy:.0%} of a core): let its threads sleep", busy=busy
            )

    def _check_leaf(self, name: str, leaf: Leaf, output: Output) -> None:
        for what, mine, theirs in (
            ("shape", leaf["shape"], output.shape),
            ("dtype", leaf["dtype"], output.dtype),
        ):
            if mine != theirs:
                raise Rejection(
                    Status.WRONG_STRUCTURE,
                    f"{name} has {what} {_form(mine)}, the reference's has {_form(theirs)}",
                )
        repeats = any(stride == 0 and size > 1 for size, stride in zip(leaf["shape"], leaf["strides"], strict=True))
        if repeats and output.dense:
            raise Rejection(
                Status.WRONG_STRUCTURE, f"{name} is expanded: many of its elements share one place in memory"
            )
        if self._inside_inputs(leaf) and not output.aliases_input:
            raise Rejection(Status.WRONG_STRUCTURE, f"{name} lies in the memory of an input; results need their own")

    def _inside_inputs(self, leaf: Leaf) -> bool:
        return self.worker.maps_inputs_at(leaf["ptr"])

    def check_inputs(self, placed: Placed) -> None:
        """Inputs and the red zones around them, as this process sees them, are what they were."""
        assert self._prepared.stage is not None
        with self.judged():
            seen = self.worker.input_bytes(placed)
        wanted = self._prepared.stage.content(placed)
        if same_bytes(seen, wanted):
            return
        changed = (seen != wanted).nonzero()[0]
        at = placed.start + int(changed[0])
        for index, leaf in enumerate(placed.leaves):
            if leaf["offset"] <= at < leaf["offset"] + leaf["nbytes"]:
                raise Rejection(
                    Status.INPUT_MUTATED,
                    f"changed input {index} ({len(changed)} bytes)",
                    first_byte=at - leaf["offset"],
                )
        raise Rejection(Status.CRASH, f"wrote {len(changed)} bytes outside its tensors, next to an input")

    def quiet(self) -> None:
        if not self.worker.quiet():
            raise Rejection(Status.TAMPER, "sent messages nobody asked for")

    def close(self) -> None:
        self.worker.finish()


def _is_place(offset: object, leaf: Leaf, size: int) -> bool:
    return type(offset) is int and 0 <= offset <= extent(leaf) - size


def _foreign(tree: Tree) -> str | None:
    try:
        return foreign(tree)
    except (KeyError, TypeError, ValueError, RecursionError):
        return "nonsense"


def _normal(tree: Tree) -> object:
    """Lists and tuples are the same to whoever unpacks them."""
    if tree["t"] in ("list", "tuple"):
        return [_normal(item) for item in tree["items"]]
    if tree["t"] == "dict":
        return {key: _normal(item) for key, item in tree["items"]}
    return (tree["t"], tree.get("i"), tree.get("v"))


def _form(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, list) else str(value)


def _listed(word: str, names: list[str]) -> str:
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    return f"{word} {shown}"
