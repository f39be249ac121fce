"""Suites of problems: public ones, read from a checkout or dataset file, and one of our own. Nothing is downloaded.

    find_suites()                         what lies in the usual places
    select("kernelbench:1")               the problems that an address names
    load_problem("kernelbench:1/19")      one of them as a task
    load_problem("everyday:bias_gelu")    one that needs no checkout

Knows the layouts of KernelBench and robust-kbench, of `everyday` in this folder, of folders of solutions and of quality
files. Runs nothing.
"""

from kernelwright.tasks.suites._address import Address
from kernelwright.tasks.suites._find import KNOWN, find_suites, load_problem, open_suite, select
from kernelwright.tasks.suites._places import VARIABLE
from kernelwright.tasks.suites._problem import Problem
from kernelwright.tasks.suites._quality import Finding, Quality
from kernelwright.tasks.suites._solutions import Solution, Solutions, find_solutions
from kernelwright.tasks.suites._suite import Suite

__all__ = [
    "KNOWN",
    "VARIABLE",
    "Address",
    "Finding",
    "Problem",
    "Quality",
    "Solution",
    "Solutions",
    "Suite",
    "find_solutions",
    "find_suites",
    "load_problem",
    "open_suite",
    "select",
]
