"""A candidate called under a tool: `python -m kernelwright.judge.worker.inspected FD DEVICE`.

Talks to the judge over the socket that it was given. Its memory is torch's own, so that a tool sees the limits of every
tensor. Every line below runs beside hostile code.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from typing import NoReturn

import torch

from kernelwright.judge._channel import Channel, Closed, Message
from kernelwright.judge._tree import decode
from kernelwright.judge.worker._candidate import Candidate
from kernelwright.judge.worker._tensors import Mapping


class Inspected(Candidate):
    """A candidate whose inputs arrive by value."""

    def __init__(self, channel: Channel, device: str) -> None:
        super().__init__(channel)
        self._device = device

    def do_load(self, message: Message) -> Message:
        answer = super().do_load(message)
        if isinstance(self._model, torch.nn.Module):
            self._model.to(self._device)
        return answer

    def do_inputs(self, message: Message, fd: int) -> Message:
        values = Mapping(fd, private=True)
        leaves = [values.tensor(leaf).to(self._device) for leaf in message["leaves"]]
        self._arguments = decode(message["tree"], leaves)
        return {"op": "laid"}

    def do_call(self, message: Message) -> Message:
        """Calls `warm` times in peace, then once where a tool that waits for its sign begins to look."""
        for _ in range(message["warm"]):
            self._call()
        self._mark(True)
        self._call()
        self._mark(False)
        return {"op": "called"}

    def _call(self) -> None:
        assert self.forward is not None
        self._result = self.forward(*self._arguments)
        if self._device == "cuda":
            torch.cuda.synchronize()

    def _mark(self, on: bool) -> None:
        if self._device == "cuda":
            (torch.cuda.profiler.start if on else torch.cuda.profiler.stop)()  # type: ignore[no-untyped-call]

    def do_leave(self, message: Message) -> NoReturn:
        """Ends as programs do: the tool has something to say then."""
        raise SystemExit


def main() -> None:
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    channel.send({"op": "hello"})
    with contextlib.suppress(Closed):
        Inspected(channel, sys.argv[2]).run()


if __name__ == "__main__":
    main()
