"""What a module was called with: tensors, and plain values that are the same in every call of its kind.

A call's key is cheap and made at every call; how its arguments are written down is found out once for each key.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from kernelwright.tasks import InputSpec, TaskError, input_like, layout_of, written

Arguments = tuple[Any, ...]
Named = Mapping[str, Any]


def call_key(args: Arguments, kwargs: Named) -> Any:
    """Equal keys: the same structure, tensors of the same shape, dtype, strides and alignment."""
    return (*map(_key, args), *((name, _key(value)) for name, value in kwargs.items()))


def _key(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (value.shape, value.dtype, value.stride(), value.storage_offset() * value.element_size() % 16)
    if isinstance(value, list | tuple):
        return (type(value), *map(_key, value))
    if isinstance(value, dict):
        return (dict, *((name, _key(item)) for name, item in value.items()))
    # 1, 1.0 and True are equal, and are not the same argument.
    return (type(value), value if isinstance(value, bool | int | float | str | torch.dtype) else None)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """In the order in which `Passing` names them."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)


@dataclass(frozen=True)
class Passing:
    """How `forward` of a reference passes its tensors on.

    Attributes:
        names: Of the tensors, in order.
        text: The arguments as text, plain values filled in: `x, mask, causal=True`.
        direct: Whether the text is the tensors alone, by position: `forward` need not be written then.
    """

    names: tuple[str, ...]
    text: str
    direct: bool


def passing(module: torch.nn.Module, args: Arguments, kwargs: Named) -> Passing:
    """Raises TaskError where an argument is nothing that a task can hold."""
    names: list[str] = []
    positional = [_passed(name, value, names) for name, value in zip(_names(module), args, strict=False)]
    named = [f"{name}={_passed(name, value, names)}" for name, value in kwargs.items()]
    if not names:
        raise TaskError("it is called without a tensor.")
    return Passing(tuple(names), ", ".join([*positional, *named]), not named and positional == names)


def _names(module: torch.nn.Module) -> Iterator[str]:
    """Of positional arguments; those that a star takes are counted."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    taken = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    yield from taken
    yield from (f"input_{index}" for index in range(len(taken), 1000))


def _passed(name: str, value: Any, names: list[str]) -> str:
    if isinstance(value, torch.Tensor):
        names.append(name)
        return name
    if isinstance(value, list | tuple) and next(tensors_in(value), None) is not None:
        inside = ", ".join(_passed(f"{name}_{index}", item, names) for index, item in enumerate(value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    text = written(value)
    if text is None:
        raise TaskError(f"its argument {name!r} is a {type(value).__name__}, which a task cannot hold.")
    return text


def input_specs(names: tuple[str, ...], args: Arguments, kwargs: Named) -> tuple[InputSpec, ...]:
    """Inputs like the call's tensors. One whose strides cannot be described is described as contiguous."""
    tensors = [*tensors_in(args), *tensors_in(kwargs)]
    return tuple(_like(name, tensor) for name, tensor in zip(names, tensors, strict=True))


@dataclass(frozen=True)
class Form:
    """What a kernel may be specialised to: a tensor without its contents."""

    shape: tuple[int, ...]
    dtype: str
    layout: str


def forms(args: Arguments, kwargs: Named) -> tuple[Form, ...]:
    return tuple(_form(tensor) for tensor in (*tensors_in(args), *tensors_in(kwargs)))


def _form(tensor: torch.Tensor) -> Form:
    try:
        layout = layout_of(tensor)
    except TaskError:
        layout = "none that has a name"
    return Form(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), layout)


def _like(name: str, tensor: torch.Tensor) -> InputSpec:
    try:
        return input_like(name, tensor)
    except TaskError:
        return input_like(name, tensor.contiguous())
