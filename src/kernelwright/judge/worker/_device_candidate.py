"""A candidate's worker on a device. Every line below runs beside hostile code."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from kernelwright.judge import _seccomp
from kernelwright.judge._channel import Channel, Message
from kernelwright.judge.worker import _candidate, _launches
from kernelwright.judge.worker._on_device import OnDevice


class DeviceCandidate(OnDevice, _candidate.Candidate):
    """The candidate's model, moved to the device, in torch's place the judge's allocator."""

    def do_open(self, message: Message) -> Message:
        answer = super().do_open(message)
        if message["profiler"]:
            self._profile(lambda: torch.zeros(1, device=self.device.name))  # its start takes seconds
        return answer

    def _answer(self, message: Message, fds: list[int]) -> None:
        super()._answer(message, fds)
        if message["op"] == "open" and message["triton"]:
            _start_triton()  # the device is open by now for others to follow

    def do_load(self, message: Message) -> Message:
        if message["mute"]:
            _mute_triton()
        answer = super().do_load(message)
        if isinstance(self._model, torch.nn.Module):
            self._model.to(self.device.name)
        return answer

    def do_seal(self, message: Message) -> Message:
        """No process and no program any more."""
        if _seccomp.supported():
            _seccomp.install()
        return {"op": "sealed"}

    def do_kernels(self, message: Message) -> Message:
        """Calls under torch's profiler: the kernels that ran on the device, and for how long."""
        assert self.forward is not None
        forward = self.forward

        def call() -> None:
            self.results = [forward(*arguments) for arguments in self._calls]

        call()  # what is compiled or tuned on first use is no part of a call
        seconds, busy = self._profile(call)
        return {"op": "kernels", "seconds": seconds, "busy": busy, **self._described()}

    def do_launches(self, message: Message) -> Message:
        """Calls once more: every launch on the device, with its shape and what it takes of a multiprocessor."""
        assert self.forward is not None
        forward = self.forward

        def call() -> None:
            self.results = [forward(*arguments) for arguments in self._calls]

        found = _launches.record(call, self.device.synchronize, on_gpu=self.device.name == "cuda")
        return {"op": "launches", "launches": found}

    def do_compiled(self, message: Message) -> Message:
        """What Triton compiled in this process."""
        files, fd = _launches.compiled(_launches.triton_cache(), message["endings"])
        return {"op": "compiled", "files": files, "fds": (fd,)}

    def _profile(self, call: Callable[[], Any]) -> tuple[dict[str, float], float]:
        """Seconds by kernel, and how long any of them ran."""
        # Not `torch.profiler`, which imports a compiler first.
        on_gpu = "cuda" if self.device.name == "cuda" else None
        with torch.autograd.profiler.profile(use_device=on_gpu, use_kineto=True) as profile:
            call()
            self.device.synchronize()
        assert profile.kineto_results is not None
        # An annotation spans the kernels launched inside it, under whatever name it was given.
        events = [
            event
            for event in profile.kineto_results.events()
            if event.device_type().name == "CUDA" and not event.is_user_annotation()
        ]
        found: Counter[str] = Counter()
        for event in events:
            found[event.name()[:300]] += event.duration_ns() / 1e9
        spans = [(event.start_ns(), event.start_ns() + event.duration_ns()) for event in events]
        return dict(found), _covered(spans) / 1e9


def _covered(spans: list[tuple[float, float]]) -> float:
    """The length of what spans cover together."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _start_triton() -> None:
    with contextlib.suppress(Exception):  # a candidate that needs it will say what is wrong
        from kernelwright.judge.worker import _triton_start

        _triton_start.start()


def _mute_triton() -> None:
    """Kernels of Triton's are launched in vain."""
    try:
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction
    except ImportError:
        return
    nothing: Callable[..., None] = lambda *arguments, **named: None  # noqa: E731
    JITFunction.run = Autotuner.run = nothing


def main(channel: Channel) -> None:
    _candidate.prepare_home()
    DeviceCandidate(channel).run()
