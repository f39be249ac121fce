"""The loop that every worker runs: stage inputs, call, say where the result lies.

It shares a process with hostile code and is believed in nothing: it holds no expected value and no clock, and
whatever it says about a result is checked against memory that the judge reads by itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import torch

from kernelwright.judge._channel import Channel, Message
from kernelwright.judge._tree import decode
from kernelwright.judge.worker._survey import survey
from kernelwright.judge.worker._tensors import Mapping, describe_tree, exact_tensor, glance, span

POISON = 0xFF
GLANCES = 16
KEPT_BYTES = 512 << 20
TRACEBACK_LINES = 40


class Driver:
    """Answers messages `{"op": NAME}` by its methods `do_NAME`."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.forward: Callable[..., Any] | None = None
        self._slots: Mapping | None = None
        self._arguments: list[Any] = []
        self._result: Any = None
        self._earlier: list[Any] = []
        self._places: list[float] = []
        self._guard = _guard_switch()

    def run(self) -> None:
        torch.set_grad_enabled(False)
        while True:
            message, fds = self.channel.receive_fds()
            self._answer(message, fds)

    def _answer(self, message: Message, fds: list[int]) -> None:
        handler: Callable[..., Message] = getattr(self, "do_" + message["op"])
        try:
            answer = handler(message, *fds)
        except Exception as error:
            answer = failure(error)
        answer_fds = answer.pop("fds", ())
        self.channel.send(answer, answer_fds)
        for fd in answer_fds:
            os.close(fd)

    def do_attach(self, message: Message, fd: int) -> Message:
        self._slots = Mapping(fd, private=True)
        return {"op": "attached", "address": self._slots.address}

    def do_stage(self, message: Message) -> Message:
        """Makes ready everything that a call needs, so that the call itself is nothing but the call."""
        assert self._slots is not None
        self._retire(message["keep"] - 1)  # besides the last result, which becomes an earlier one with the next call
        leaves = [self._slots.tensor(leaf) for leaf in message["leaves"]]
        self._arguments = decode(message["tree"], leaves)
        self._guard(message["guard"])
        self._places = [random.random() for _ in range(GLANCES)]
        return {"op": "staged"}

    def do_ping(self, message: Message) -> Message:
        """Everything a call does but the call: what the journey itself costs."""
        return {"op": "done", "n": message["n"], **self._described()}

    def do_go(self, message: Message) -> Message:
        assert self.forward is not None
        if self._result is not None:
            self._earlier.append(self._result)
        self._result = self.forward(*self._arguments)
        return {"op": "done", "n": message["n"], **self._described()}

    def do_survey(self, message: Message) -> Message:
        """One call, watched by torch's own profiler: which operators compute, on how many elements."""
        forward = self.forward
        assert forward is not None
        return {"op": "surveyed", "operators": survey(lambda: forward(*self._arguments))}

    def _described(self) -> Message:
        """Where the result lies; before anything else, a glance at it: it must not change any more."""
        early = [glance(tensor, self._places) for tensor in _tensors_of(self._result)]
        tree, leaves = describe_tree(self._result)
        return {"tree": tree, "leaves": leaves, "early": early}

    def _retire(self, keep: int) -> None:
        """The last few results stay as they are: the judge may look again. Older ones are overwritten and dropped."""
        while len(self._earlier) > keep or (len(self._earlier) > 1 and _bytes(self._earlier) > KEPT_BYTES):
            for tensor in _tensors_of(self._earlier.pop(0)):
                self._poison(tensor)

    def _poison(self, tensor: torch.Tensor) -> None:
        if tensor.is_contiguous() and not self._protected(tensor.data_ptr()):
            ctypes.memset(tensor.data_ptr(), POISON, span(tensor))

    def _protected(self, address: int) -> bool:
        """Inputs and weights are not ours to overwrite, even where a result is a view of them."""
        owned = [*_tensors_of(self._arguments), *self.weights()]
        return any(
            tensor.untyped_storage().data_ptr()
            <= address
            < tensor.untyped_storage().data_ptr() + tensor.untyped_storage().nbytes()
            for tensor in owned
        )

    def weights(self) -> Iterable[torch.Tensor]:
        return ()


def _bytes(results: list[Any]) -> int:
    return sum(span(tensor) for result in results for tensor in _tensors_of(result))


def _tensors_of(value: Any) -> list[torch.Tensor]:
    if exact_tensor(value):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors_of(item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in _tensors_of(item)]
    return []


def _guard_switch() -> Callable[[int], None]:
    """Turns the guarding allocator on and off, where it was loaded into this process."""
    try:
        switch = ctypes.CDLL(None).kernelwright_guard
    except AttributeError:
        return lambda pattern: None
    return lambda pattern: switch(pattern)


def failure(error: BaseException) -> Message:
    """An exception as a message: what kind it is, and enough of the trace to find the line."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return {
        "op": "failed",
        "kind": getattr(error, "kind", None) or _kind(error),
        "fix": str(getattr(error, "fix", "")),
        "flaw": str(getattr(error, "flaw", "")),
        "type": type(error).__name__,
        "message": str(error)[:4000],
        "log": str(getattr(error, "log", ""))[: 1 << 20],
        "trace": "\n".join(lines[-TRACEBACK_LINES:]),
    }


def _kind(error: BaseException) -> str:
    from kernelwright import native

    if isinstance(error, native.CompileError):
        return "compile"
    text = str(error)
    if (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "can't allocate memory" in text
        or "out of memory" in text
        or "bad_alloc" in text
    ):
        return "memory"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "disk"
    return "other"
