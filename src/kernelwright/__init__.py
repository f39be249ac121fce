"""Kernelwright takes a computation and returns a faster kernel, with proof."""

__version__ = "0.1.0"
