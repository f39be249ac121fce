"""From a program to its tasks and back: where its time goes, what a kernel could gain, what a winner has gained.

Knows programs as scripts, run in processes of their own. Imports torch only there.
"""

from kernelwright.trace._check import ROUNDS, Accepted, Check, Swapped, check
from kernelwright.trace._error import TraceError
from kernelwright.trace._folders import write_tasks
from kernelwright.trace._outputs import Agreement
from kernelwright.trace._program import Program
from kernelwright.trace._roof import MeasuredRoof
from kernelwright.trace._spot import MOST_OPERATORS, Ranked, Roof, Shape, Spot, rank
from kernelwright.trace._text import class_replaced
from kernelwright.trace._trace import Operator, Trace, trace

__all__ = [
    "MOST_OPERATORS",
    "ROUNDS",
    "Accepted",
    "Agreement",
    "Check",
    "MeasuredRoof",
    "Operator",
    "Program",
    "Ranked",
    "Roof",
    "Shape",
    "Spot",
    "Swapped",
    "Trace",
    "TraceError",
    "check",
    "class_replaced",
    "rank",
    "trace",
    "write_tasks",
]
