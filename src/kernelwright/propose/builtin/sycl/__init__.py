"""The same loops as SYCL kernels: work-groups share rows, blocks and tiles, work-items the lanes of each."""

from kernelwright.propose.builtin.sycl._candidate import candidate
from kernelwright.propose.builtin.sycl._genome import SyclGenome

__all__ = ["SyclGenome", "candidate"]
