"""A module built again from its text: is it what the program runs, and what does a call of it cost at least."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelwright.tasks import InputSpec, TaskError, draw_input
from kernelwright.trace._call import Passing, tensors_in

NAME = "kernelwright_rebuilt"
CHANGED = "it was changed after it was built"
# Summation orders differ between a first and a second call; a changed constant shows in the third digit or before.
AGREE = 1e-4


@dataclass(frozen=True)
class Cost:
    """Of one call: operations, bytes that have to be moved, operators that compute something.

    Attributes:
        matrix: Operations of matrix products and convolutions among them.
    """

    operations: float
    matrix: float
    bytes: int
    operators: int


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operators that are more than another view of the same memory."""

    number = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += not func.is_view
        return func(*args, **(kwargs or {}))


def rebuilt(source: str, original: torch.nn.Module) -> torch.nn.Module:
    """The text's `Model` with the weights of the original. Raises TaskError where they do not fit."""
    # Dataclasses look up the module that they are defined in.
    module = sys.modules[NAME] = types.ModuleType(NAME)
    try:
        exec(compile(source, "reference.py", "exec"), vars(module))
        model: torch.nn.Module = module.Model()
        model.load_state_dict(original.state_dict())
    except Exception as error:
        raise TaskError(f"{CHANGED}, or cannot be built from its text: {_one_line(error)}") from error
    return model.to(_device(original)).train(original.training)


def compare(model: torch.nn.Module, original: torch.nn.Module, passed: Passing, inputs: tuple[InputSpec, ...]) -> None:
    """Raises TaskError where text and original do not do the same, or do it differently each time."""
    drawn = _drawn(model, inputs)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first, again = _called(model, drawn, 1), _called(model, drawn, 2)
    if not _agree(first, again):
        raise TaskError("it gives other results each time")
    if any(not torch.equal(value, before[name]) for name, value in model.state_dict().items()):
        raise TaskError("it changes its own weights or buffers when it is called")
    # Names in the text are those of the tensors; nothing else is in it but plain values.
    as_called = eval(f"lambda model: lambda {', '.join(passed.names)}: model({passed.text})", {"torch": torch})
    if not _agree(first, _called(as_called(original), drawn, 1)):
        raise TaskError(CHANGED)


def cost_of(model: torch.nn.Module, inputs: tuple[InputSpec, ...]) -> Cost:
    # The judge is met when the program has ended, not before.
    from kernelwright.judge.worker._operations import count

    drawn = _drawn(model, inputs)
    counted = count(lambda: _called(model, drawn, 1))
    with _Operators() as operators:  # type: ignore[no-untyped-call]
        outputs = _called(model, drawn, 1)
    weights = sum(value.nbytes for value in model.state_dict().values())
    moved = sum(tensor.nbytes for tensor in (*drawn, *outputs)) + weights
    matrix = float(counted["matrix"])
    return Cost(matrix + float(counted["elementwise"]), matrix, moved, operators.number)


def _drawn(model: torch.nn.Module, inputs: tuple[InputSpec, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [draw_input(spec, generator).to(_device(model)) for spec in inputs]


def _device(model: torch.nn.Module) -> torch.device:
    return next((tensor.device for tensor in model.state_dict().values()), torch.device("cpu"))


def _called(model: Callable[..., Any], drawn: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    with torch.no_grad():
        return list(tensors_in(model(*drawn)))


def _agree(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return len(some) == len(others) and all(map(_close, some, others))


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    size = float(one.double().abs().nan_to_num(0, 0, 0).amax()) if one.numel() else 0.0
    return torch.allclose(one.double(), other.double(), rtol=AGREE, atol=AGREE * size, equal_nan=True)


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}."
