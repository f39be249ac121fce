"""What every worker on a device does: lay out inputs of one or more calls, make the calls, say where results lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from kernelwright.judge._channel import Message
from kernelwright.judge._tree import decode, encode
from kernelwright.judge.worker._device import Block, Device, open_device, tensor_at
from kernelwright.judge.worker._driver import Driver
from kernelwright.judge.worker._tensors import describe, exact_tensor, settle_on


class OnDevice(Driver):
    """A driver whose tensors lie on a device. Inputs are read from blocks that another process fills."""

    def do_open(self, message: Message) -> Message:
        """Makes the device ready, before anybody's code runs."""
        library = Path(message["library"]) if message["library"] else None
        self.device: Device = open_device(message["kind"], library, own_allocator=message["own_allocator"])
        settle_on(self.device.name)
        self._inputs: Block | None = None
        self._calls: list[list[Any]] = []
        self.results: list[Any] = []
        return {"op": "opened", "free_bytes": self.device.free_bytes()}

    def do_attach(self, message: Message, fd: int) -> Message:
        """Maps the blocks that inputs lie in, to be read and not written."""
        if self._inputs is not None:
            self._calls = []
            self.device.drop(self._inputs)
        self._inputs = self.device.take(fd, message["nbytes"])
        return {"op": "attached"}

    def do_stage(self, message: Message) -> Message:
        """Makes ready everything that the calls need, so that they are nothing but the calls."""
        self.results = []
        self.device.settle()
        self._calls = [decode(call["tree"], self._input_tensors(call["leaves"])) for call in message["calls"]]
        self._arguments = self._calls[0]
        self.device.guard(message["guard"])
        return {"op": "staged"}

    def _input_tensors(self, leaves: list[dict[str, Any]]) -> list[torch.Tensor]:
        assert self._inputs is not None
        return [tensor_at(self.device, self._inputs.base + leaf["offset"], leaf) for leaf in leaves]

    def do_ping(self, message: Message) -> Message:
        """Everything a call does but the call, with as little work on the device as there can be."""
        torch.zeros(1, device=self.device.name)
        self.device.synchronize()
        return {"op": "done", "n": message["n"], **self._described()}

    def do_go(self, message: Message) -> Message:
        assert self.forward is not None
        self.results = []  # else both the last and the next need room
        self.results = [self.forward(*arguments) for arguments in self._calls]
        self.device.synchronize()
        return {"op": "done", "n": message["n"], **self._described()}

    def do_warm(self, message: Message) -> Message:
        """A call of which nothing is kept: what it compiles is compiled, and its memory is for others meanwhile."""
        answer = self.do_go(message)
        self.do_rest(message)
        return {**answer, "tree": {}, "leaves": [], "more": []}

    def do_drop(self, message: Message) -> Message:
        """Lets go of results, so that the next call finds room; inputs stay the objects they are."""
        self.results = []
        self.device.settle()
        return {"op": "dropped"}

    def do_rest(self, message: Message) -> Message:
        """Keeps no memory for later."""
        self.do_drop(message)
        self.device.release()
        return {"op": "rested"}

    def _described(self) -> Message:
        """Where each result lies: in which block, and how far from its beginning."""
        calls = [self._describe(result) for result in self.results]
        first = calls[0] if calls else {"tree": {}, "leaves": []}
        return {**first, "more": calls[1:]}

    def _describe(self, result: Any) -> Message:
        leaves: list[torch.Tensor] = []
        tree = encode(result, exact_tensor, leaves)
        return {"tree": tree, "leaves": [self._placed(leaf) for leaf in leaves]}

    def _placed(self, leaf: torch.Tensor) -> dict[str, Any]:
        said = describe(leaf)
        block = self.device.block_of(leaf) if leaf.numel() else None
        if block is None:
            return {**said, "block": 0, "offset": 0, "nbytes": 0}
        offset = 0 if self.device.name == "cpu" else said["ptr"] - block.base
        return {**said, "block": block.number, "base": block.base, "offset": offset, "nbytes": block.nbytes}

    def do_show(self, message: Message) -> Message:
        """Hands over the block that begins at an address."""
        fd = self.device.show(Block(message["block"], message["base"], message["nbytes"]))
        return {"op": "shown", "fds": (fd,)}
