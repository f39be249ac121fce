"""The functions that kernels are written with, compiled and held against double precision."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from kernelwright import native
from kernelwright.propose.builtin._lanes import lanes

NAMES = ("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "erf")
KERNEL = """
extern "C" void vector_{name}(const float* x, float* y, int64_t n) {{
    for (int64_t l = 0; l < n; l += W) {{
        const int64_t left = n - l < W ? n - l : W;
        save(no(), y + l, 1, {name}_(load(no(), x + l, left)), left);
    }}
}}
"""
EXACT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": torch.log,
    "log1p": torch.log1p,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
}
RANGES = {
    "exp": (-103.0, 88.7),
    "expm1": (-30.0, 88.7),
    "log": (1e-38, 1e38),
    "log1p": (-0.999, 1e4),
    "tanh": (-12.0, 12.0),
    "sigmoid": (-80.0, 80.0),
    "erf": (-5.0, 5.0),
}


def compiled(width: int, functions: str) -> native.Library:
    return native.cpp(lanes(width, functions) + "".join(KERNEL.format(name=name) for name in NAMES))


@pytest.fixture(scope="module")
def exact() -> native.Library:
    return compiled(16, "exact")


def applied(library: native.Library, name: str, x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    getattr(library, f"vector_{name}")(x, y, x.numel())
    return y


def points(name: str) -> torch.Tensor:
    """All over the range, close to 0, and at every power of two."""
    low, high = RANGES[name]
    generator = torch.Generator().manual_seed(1)
    spread = torch.rand(200_001, generator=generator, dtype=torch.float64) * (high - low) + low
    tiny = torch.logspace(-30, 0, 5001, dtype=torch.float64)
    logs = torch.logspace(-37, 37, 20_001, dtype=torch.float64) if name == "log" else torch.zeros(1)
    near = torch.linspace(0.5, 2.0, 20_001, dtype=torch.float64)
    signs = (tiny, -tiny) if low < 0 else (tiny,)
    every = torch.cat([spread, near, logs, *signs]).float()
    return every[(every >= low) & (every <= high) & ((every != 0) | (name != "log"))]


def units(found: torch.Tensor, right: torch.Tensor) -> float:
    """The largest error, in units in the last place of the right answer."""
    _, exponent = torch.frexp(right.float())
    unit = torch.ldexp(torch.ones_like(right), (exponent - 24).clamp(min=-149))
    return float(((found.double() - right).abs() / unit).max())


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_right_to_a_few_units_in_the_last_place(exact: native.Library, name: str) -> None:
    x = points(name)
    assert units(applied(exact, name, x), EXACT[name](x.double())) <= 4.0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_infinite_or_no_number_is_treated_as_torch_does(exact: native.Library, name: str) -> None:
    x = torch.tensor([math.inf, -math.inf, math.nan, 0.0, -0.0, 1e30, -1e30, -1.0, 1e-40])
    torch.testing.assert_close(applied(exact, name, x), EXACT[name](x), rtol=1e-5, atol=1e-44, equal_nan=True)


@pytest.mark.parametrize("width", [4, 32])
def test_fast_functions_are_right_to_five_digits_in_every_width(width: int) -> None:
    library = compiled(width, "fast")
    for name in ("exp", "tanh", "sigmoid"):
        x = points(name)
        right = EXACT[name](x.double())
        assert float(((applied(library, name, x) - right).abs() / right.abs().clamp(min=1e-37)).max()) < 1e-5
