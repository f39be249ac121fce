"""The built-in synthesiser: writes C++, SYCL and Triton kernels for what it understands, without a model.

    builtin = Builtin(seed=0)
    reply = builtin.propose(Request(id="1", prompt="", kind="draft", backend="cpp", task=task))

The reference is captured in a process of its own as a graph of small operators, brought into a form of our own (loops
over spaces, expressions that read by affine addresses), and written as C++, SYCL or Triton by a genome: the choices
that make one kernel of many. What it cannot write, it says in one sentence that names the operator.
"""

from kernelwright.propose.builtin._error import CannotWriteError
from kernelwright.propose.builtin._genome import CHOICES, Genome
from kernelwright.propose.builtin._proposer import BACKENDS, NAME, Builtin
from kernelwright.propose.builtin.sycl import SyclGenome
from kernelwright.propose.builtin.triton import TritonGenome

__all__ = ["BACKENDS", "CHOICES", "NAME", "Builtin", "CannotWriteError", "Genome", "SyclGenome", "TritonGenome"]
