"""A stopwatch at every module of a running program: how often it is called, with what, how long it takes.

The time of a module is inclusive (with the modules it calls) and exclusive (without them). What the stopwatch itself
does is kept out of both, and out of the program's time.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch

from kernelwright.tasks import InputSpec, TaskError
from kernelwright.trace._call import Passing, call_key, input_specs, passing, tensors_in
from kernelwright.trace._design import Design, design_of

GRADIENTS = "gradients are recorded: a kernel has no backward"
AUTOCAST = "it runs under autocast"


@dataclass
class Seen:
    """Calls of one kind of module with the same arguments but for the tensors' contents.

    Attributes:
        passed: How the arguments are written down; None where they cannot be.
        why_not: Why no kernel may take these calls; empty where one may.
    """

    passed: Passing | None
    inputs: tuple[InputSpec, ...]
    why_not: str
    calls: int = 0
    seconds: float = 0.0
    own_seconds: float = 0.0


@dataclass
class Kind:
    """Modules of the same design.

    Attributes:
        name: Of their class.
        design: How they are written down; None where they cannot be.
        example: One of them.
        why_not: Why they cannot be written down.
        paths: Where they sit in the program's models.
        inside: Names of the kinds that call them.
    """

    name: str
    design: Design | None
    example: torch.nn.Module
    why_not: str
    paths: dict[str, None] = field(default_factory=dict)
    inside: dict[str, None] = field(default_factory=dict)
    seen: dict[Any, Seen] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.design.label if self.design else self.name


@dataclass
class _Frame:
    kind: Kind
    started: float = 0.0
    inner: float = 0.0
    overhead: float = 0.0


class _Thread(threading.local):
    def __init__(self) -> None:
        self.frames: list[_Frame] = []
        self.active: Counter[int] = Counter()


class Stopwatch:
    """Sees every call of a module between `running` and its end."""

    def __init__(self) -> None:
        self.kinds: dict[Any, Kind] = {}
        self.overhead = 0.0
        self._known: weakref.WeakKeyDictionary[torch.nn.Module, dict[bool, Kind]] = weakref.WeakKeyDictionary()
        self._paths: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()
        self._thread = _Thread()

    @contextmanager
    def running(self) -> Iterator[None]:
        plain = torch.nn.Module.__call__
        torch.nn.Module.__call__ = self._timed(plain)  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = plain  # type: ignore[method-assign]

    def _timed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return plain(module, *args, **kwargs)
            entered = perf_counter()
            seen, frame = self._begin(module, args, kwargs)
            wait = _wait_for_device(args)
            frame.started = perf_counter()
            early = frame.started - entered
            try:
                return plain(module, *args, **kwargs)
            finally:
                wait()
                self._end(seen, frame, early, perf_counter())

        return call

    def _begin(self, module: torch.nn.Module, args: Any, kwargs: Any) -> tuple[Seen, _Frame]:
        thread = self._thread
        kind = self._kind(module)
        if thread.frames:
            kind.inside[thread.frames[-1].kind.name] = None
        seen = self._seen(kind, module, args, kwargs)
        frame = _Frame(kind)
        thread.frames.append(frame)
        thread.active[id(kind)] += 1
        return seen, frame

    def _end(self, seen: Seen, frame: _Frame, early: float, ended: float) -> None:
        thread = self._thread
        thread.frames.pop()
        thread.active[id(frame.kind)] -= 1
        took = ended - frame.started - frame.overhead
        seen.calls += 1
        seen.own_seconds += took - frame.inner
        if not thread.active[id(frame.kind)]:
            seen.seconds += took
        overhead = frame.overhead + early + perf_counter() - ended
        if thread.frames:
            thread.frames[-1].inner += took
            thread.frames[-1].overhead += overhead
        else:
            self.overhead += overhead

    def _kind(self, module: torch.nn.Module) -> Kind:
        by_mode = self._known.setdefault(module, {})
        kind = by_mode.get(module.training)
        if kind is None:
            if not self._thread.frames:
                self._paths.update({part: name for name, part in module.named_modules() if name})
            kind = by_mode[module.training] = self._kind_of_new(module)
            kind.paths[self._paths.get(module, "")] = None
        return kind

    def _kind_of_new(self, module: torch.nn.Module) -> Kind:
        name = type(module).__name__
        try:
            design = design_of(module)
        except TaskError as error:
            return self.kinds.setdefault((type(module), error.what), Kind(name, None, module, error.what))
        return self.kinds.setdefault(design, Kind(name, design, module, ""))

    def _seen(self, kind: Kind, module: torch.nn.Module, args: Any, kwargs: Any) -> Seen:
        unfit = unfit_for_kernels(module, args)
        key = (unfit, call_key(args, kwargs))
        seen = kind.seen.get(key)
        if seen is None:
            seen = kind.seen[key] = _first_seen(module, args, kwargs, unfit)
        return seen


def _first_seen(module: torch.nn.Module, args: Any, kwargs: Any, unfit: str) -> Seen:
    try:
        passed = passing(module, args, kwargs)
        return Seen(passed, input_specs(passed.names, args, kwargs), unfit)
    except TaskError as error:
        return Seen(None, (), unfit or error.what)


def unfit_for_kernels(module: torch.nn.Module, args: Any) -> str:
    """Why no kernel may take this call, whatever its arguments are."""
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        return AUTOCAST
    return GRADIENTS if _records_gradients(module, args) else ""


def _records_gradients(module: torch.nn.Module, args: Any) -> bool:
    if not torch.is_grad_enabled():
        return False
    return any(tensor.requires_grad for tensor in (*tensors_in(args), *module.parameters()))


def _wait_for_device(args: Any) -> Callable[[], Any]:
    """Work on a GPU belongs to the module that asked for it: nobody goes on before it is done."""
    if not any(tensor.is_cuda for tensor in tensors_in(args)):
        return _nothing
    torch.cuda.synchronize()
    return torch.cuda.synchronize


def _nothing() -> None:
    pass
