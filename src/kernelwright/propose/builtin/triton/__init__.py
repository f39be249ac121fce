"""The same loops as Triton kernels: blocks of elements, tiles of rows, and what is found in a pass over them."""

from kernelwright.propose.builtin.triton._candidate import candidate
from kernelwright.propose.builtin.triton._genome import TritonGenome

__all__ = ["TritonGenome", "candidate"]
