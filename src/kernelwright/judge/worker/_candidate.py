"""The candidate's worker: loads a `ModelNew`, gives it weights, calls it. Every line below runs beside hostile code."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from kernelwright import native
from kernelwright.judge._channel import Channel, Message
from kernelwright.judge._tree import decode
from kernelwright.judge.worker._driver import Driver
from kernelwright.judge.worker._interpreter import interpret
from kernelwright.judge.worker._tensors import Mapping


class Candidate(Driver):
    """A driver whose `forward` is the candidate's."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._model: torch.nn.Module | None = None
        self._launches: Callable[[], int] = int

    def do_load(self, message: Message) -> Message:
        if message["mute"]:
            native.mute()
        if message["interpret"]:
            self._launches = interpret(mute=message["mute"])
        module = self._import(message["source"])
        model = module.ModelNew(*decode(message["init"], []))
        self._model = model.train(message["mode"] == "train") if isinstance(model, torch.nn.Module) else model
        self.forward = model
        return {"op": "loaded", "weights": _weight_shapes(model)}

    def do_import(self, message: Message) -> Message:
        """Imports the candidate, so that what it compiles then is compiled, and goes no further."""
        self._import(message["source"])
        return {"op": "imported"}

    def _import(self, source: str) -> Any:
        native.set_builder(self._ask_for_build)
        if "cpp_extension" in source:
            native.take_over_extensions()
        module = _import(source)
        if not hasattr(module, "ModelNew"):
            raise NameError("the candidate defines no class ModelNew")
        return module

    def do_survey(self, message: Message) -> Message:
        before = self._launches()
        answer = super().do_survey(message)
        return {**answer, "launches": self._launches() - before}

    def do_weights(self, message: Message, fd: int) -> Message:
        """Copies weights by name into the model, in place: who packed earlier ones must notice."""
        values = Mapping(fd, private=True)
        own = _state(self._model)
        for leaf in message["leaves"]:
            own[leaf["name"]].data.copy_(values.tensor(leaf))
        return {"op": "weighted"}

    def do_record(self, message: Message) -> Message:
        """Calls under torch's own profiler: which operators ran, from Python or C++; best times, theirs and all."""
        calls: Counter[str] = Counter()
        best: dict[str, float] = {}
        whole = math.inf
        for _ in range(message["times"]):
            calls, seconds, took = self._recorded_call()
            best = {name: min(spent, best.get(name, spent)) for name, spent in seconds.items()}
            whole = min(whole, took)
        return {"op": "recorded", "calls": dict(calls), "seconds": best, "whole": whole}

    def _recorded_call(self) -> tuple[Counter[str], Counter[str], float]:
        assert self.forward is not None
        calls: Counter[str] = Counter()
        seconds: Counter[str] = Counter()
        with torch.autograd.profiler.profile(use_kineto=False) as profile:
            start = time.perf_counter()
            self.forward(*self._arguments)
            took = time.perf_counter() - start
        for event in profile.function_events:
            calls[event.name] += 1
            seconds[event.name] += event.self_cpu_time_total / 1e6
        return calls, seconds, took

    def weights(self) -> Iterable[torch.Tensor]:
        return _state(self._model).values()

    def _ask_for_build(self, source: native.Source) -> Path:
        """Compilation happens elsewhere; here only the library's bytes arrive."""
        request = {"language": source.language, "text": source.text, "flags": list(source.flags)}
        self.channel.send({"op": "build", "source": request})
        answer, fds = self.channel.receive_fds()
        if answer["op"] != "built":
            raise native.CompileError(answer["message"], log=answer["log"])
        return Path(f"/proc/self/fd/{fds[0]}")


def _state(model: Any) -> dict[str, torch.Tensor]:
    return dict(model.state_dict(keep_vars=True)) if isinstance(model, torch.nn.Module) else {}


def _weight_shapes(model: Any) -> dict[str, list[int]]:
    return {name: list(value.shape) for name, value in _state(model).items()}


def _import(source: str) -> Any:
    """Candidates are real modules in real files: decorators of some languages read their own source."""
    path = Path(tempfile.gettempdir()) / "candidate.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def prepare_home() -> None:
    """A folder of its own for everything that writes files."""
    private = tempfile.mkdtemp(dir=None if os.path.isdir(os.environ["TMPDIR"]) else "/tmp")
    os.environ.update(TMPDIR=private, HOME=private, TORCHINDUCTOR_CACHE_DIR=private)
    tempfile.tempdir = private


def main(channel: Channel) -> None:
    prepare_home()
    Candidate(channel).run()
