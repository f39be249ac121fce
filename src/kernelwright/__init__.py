"""Kernelwright takes a computation and returns a faster kernel, with proof."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelwright.api import Result, Speedup, optimize

__all__ = ["Result", "Speedup", "__version__", "optimize"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Workers import this package beside every candidate, and must not pay for what only searches need.
    if name in ("Result", "Speedup", "optimize"):
        return getattr(import_module("kernelwright.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
