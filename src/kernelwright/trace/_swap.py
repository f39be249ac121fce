"""Winners in place of the modules they were made for, in the process of the user's program.

A call goes to a winner only where the module's text is the text of the winner's task and the tensors are of a case that
it was proven on; every other call goes where it always went.
"""

from __future__ import annotations

import importlib.util
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from kernelwright import native
from kernelwright.tasks import InputSpec, Task, TaskError
from kernelwright.trace._call import Form, call_key, forms, passing, tensors_in
from kernelwright.trace._design import design_of
from kernelwright.trace._stopwatch import unfit_for_kernels
from kernelwright.trace._text import class_replaced

OTHER_TEXT = "it is not the module that the task was made from"
OTHER_SHAPE = "its shapes are none that the winner was proven on"

Forward = Callable[..., Any]


class Winner:
    """An accepted kernel: its text, and the task it was accepted for."""

    def __init__(self, task: Task, source: str, folder: Path) -> None:
        self.task = task
        self.replaces = class_replaced(task.source)
        self.calls = 0
        self.left_alone: Counter[str] = Counter()
        self._source, self._folder = source, folder
        self._made: weakref.WeakKeyDictionary[torch.nn.Module, tuple[Any, torch.nn.Module]] = (
            weakref.WeakKeyDictionary()
        )
        self._module: Any = None

    def model_for(self, original: torch.nn.Module) -> torch.nn.Module:
        """A `ModelNew` that shares the original's weights; a new one where these have changed meanwhile."""
        version = [_version(value) for value in (*original.parameters(), *original.buffers())]
        made = self._made.get(original)
        if made is None or made[0] != version:
            made = self._made[original] = version, self._built(original)
        return made[1]

    def _built(self, original: torch.nn.Module) -> torch.nn.Module:
        # As the judge builds it, whatever mode the program calls it in.
        with torch.inference_mode(False), torch.no_grad():
            model: torch.nn.Module = self._imported().ModelNew().requires_grad_(False)
            model.load_state_dict(original.state_dict(), assign=True)
        return model.train(original.training)

    def _imported(self) -> Any:
        if self._module is None:
            if "cpp_extension" in self._source:
                native.take_over_extensions()
            path = self._folder / f"winner_{self.task.hash[:12]}.py"
            path.write_text(self._source)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            self._module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self._module)
        return self._module


def _version(tensor: torch.Tensor) -> tuple[int, int]:
    """Another tensor, or other contents, have another; tensors made in inference mode do not count their changes."""
    return id(tensor), 0 if tensor.is_inference() else tensor._version


@dataclass(frozen=True)
class _Choice:
    """Where calls of one kind go; with no `forward` to the original, for these reasons."""

    forward: Forward | None
    reasons: tuple[tuple[Winner, str], ...] = ()


class Swap:
    """Sends calls to winners between `running` and its end."""

    def __init__(self, winners: list[Winner], script: str) -> None:
        self.winners = winners
        self.preparing = 0.0
        self._script = script
        self._classes = {winner.replaces for winner in winners}
        self._choices: weakref.WeakKeyDictionary[torch.nn.Module, dict[Any, _Choice]] = weakref.WeakKeyDictionary()

    @contextmanager
    def running(self) -> Iterator[None]:
        plain = torch.nn.Module.__call__
        torch.nn.Module.__call__ = self._swapped(plain)  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = plain  # type: ignore[method-assign]

    def _swapped(self, plain: Forward) -> Forward:
        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if type(module).__name__ not in self._classes or torch.compiler.is_compiling():
                return plain(module, *args, **kwargs)
            choice = self._choice(module, args, kwargs)
            if choice.forward is not None:
                return choice.forward(*args, **kwargs)
            for winner, why_not in choice.reasons:
                winner.left_alone[why_not] += 1
            return plain(module, *args, **kwargs)

        return call

    def _choice(self, module: torch.nn.Module, args: Any, kwargs: Any) -> _Choice:
        unfit = unfit_for_kernels(module, args)
        key = (unfit, module.training, call_key(args, kwargs))
        by_key = self._choices.setdefault(module, {})
        if key not in by_key:
            started = perf_counter()
            by_key[key] = self._choose(module, args, kwargs, unfit)
            self.preparing += perf_counter() - started
        return by_key[key]

    def _choose(self, module: torch.nn.Module, args: Any, kwargs: Any, unfit: str) -> _Choice:
        reasons = []
        for winner in self.winners:
            if winner.replaces == type(module).__name__:
                why_not, copies = (unfit, ()) if unfit else _fits(winner, module, args, kwargs, self._script)
                if not why_not:
                    return _Choice(_forward(winner, module, copies))
                reasons.append((winner, why_not))
        return _Choice(None, tuple(reasons))


def _fits(
    winner: Winner, module: torch.nn.Module, args: Any, kwargs: Mapping[str, Any], script: str
) -> tuple[str, tuple[bool, ...]]:
    """Why a winner may not take calls like this one; or which tensors have to be copied for it to be as proven."""
    try:
        passed = passing(module, args, kwargs)
        text = design_of(module).reference(passed, script)
    except TaskError as error:
        return error.what, ()
    if text != winner.task.source or module.training != (winner.task.mode == "train"):
        return OTHER_TEXT, ()
    given = forms(args, kwargs)
    proven = next((case.inputs for case in winner.task.cases if _same_shapes(case.inputs or (), given)), None)
    if proven is None:
        return OTHER_SHAPE, ()
    return "", tuple(one.layout != other.layout for one, other in zip(proven, given, strict=True))


def _same_shapes(proven: tuple[InputSpec, ...], given: tuple[Form, ...]) -> bool:
    """A tensor that lies in memory in another way than the proven one can be copied, if that one is contiguous."""
    return len(proven) == len(given) and all(
        (one.shape, one.dtype) == (other.shape, other.dtype) and one.layout in (other.layout, "contiguous")
        for one, other in zip(proven, given, strict=True)
    )


def _forward(winner: Winner, module: torch.nn.Module, copies: tuple[bool, ...]) -> Forward:
    winner.model_for(module)
    # The module is what this is kept under: held fast, it would never go.
    here = weakref.ref(module)

    def forward(*args: Any, **kwargs: Any) -> Any:
        original = here()
        assert original is not None
        model = winner.model_for(original)
        winner.calls += 1
        tensors = (*tensors_in(args), *tensors_in(kwargs))
        return model(*(_copied(t) if copy else t for t, copy in zip(tensors, copies, strict=True)))

    return forward


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)
