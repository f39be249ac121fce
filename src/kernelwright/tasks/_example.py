"""From an example tensor to the description of others like it.

Guesses the distribution from the contents; reads everything else off the tensor.
"""

import math
from collections.abc import Sequence

import torch

from kernelwright.tasks._error import TaskError, about, require
from kernelwright.tasks._input_spec import DTYPES, InputSpec


def input_like(name: str, tensor: torch.Tensor) -> InputSpec:
    """An input of the same shape, dtype and layout, with values that resemble the example's."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    with about(f"argument {name!r}"):
        require(dtype in DTYPES, f"its dtype {dtype} cannot be described.", f"Use {', '.join(DTYPES)}.")
        layout = layout_of(tensor)
    return InputSpec(name, tuple(tensor.shape), dtype, _guess(tensor.detach().cpu()), layout)


def layout_of(tensor: torch.Tensor) -> str:
    """How it lies in memory, in the words of `LAYOUTS`; TaskError where these have none for it."""
    if tensor.is_contiguous():
        # Allocators align storage far beyond 16 bytes, the widest load a kernel is likely to use.
        return "contiguous" if tensor.storage_offset() * tensor.element_size() % 16 == 0 else "offset"
    if tensor.dim() >= 2 and tensor.transpose(-1, -2).is_contiguous():
        return "transposed"
    if tensor.stride() == _every_second(tensor.shape):
        return "strided"
    what = f"strides {tuple(tensor.stride())} of shape {tuple(tensor.shape)} cannot be described."
    raise TaskError(what, fix="Pass it contiguous, transposed in the last two dims, or sliced as [..., ::2].")


def _every_second(shape: Sequence[int]) -> tuple[int, ...]:
    widths = [*shape[:-1], 2 * shape[-1]]
    return (*(math.prod(widths[index + 1 :]) for index in range(len(widths) - 1)), 2)


def _guess(example: torch.Tensor) -> str:
    """A draw that resembles the example."""
    if example.numel() == 0:
        return "zeros"
    if example.dtype == torch.bool:
        return f"bernoulli({_rounded(example.double().mean())})"
    if not example.dtype.is_floating_point:
        return f"integers({int(example.min())}, {int(example.max()) + 1})"
    return _guess_real(example.double())


def _guess_real(example: torch.Tensor) -> str:
    # Masks hold infinities; what can be resembled is the rest.
    finite = example[example.isfinite()]
    if finite.numel() == 0:
        return "normal"
    low, high = _rounded(finite.min()), _rounded(finite.max())
    if low == high:
        return f"constant({low})"
    if low >= 0 and high <= 1:
        return f"uniform({0.0 if low < high / 1000 else low}, {high})"
    return f"normal({_rounded(finite.mean())}, {_rounded(finite.std(correction=0))})"


def _rounded(value: torch.Tensor) -> float:
    """Three significant digits."""
    return float(f"{float(value):.3g}")
