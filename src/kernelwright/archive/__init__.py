"""The best kernel known of every strategy, what came of every step between strategies, and what to try next.

Pure logic: candidates are hashes and numbers here, chance comes from a generator that is passed in, and whoever wrote
or judged a kernel is not known. docs/archive.md has the formulas.
"""

from kernelwright.archive._archive import Archive, Outcome
from kernelwright.archive._cell import (
    AXES,
    CELLS,
    FREELY,
    LEVELS,
    WITHIN,
    Cell,
    Direction,
    directions,
    in_words,
    target,
)
from kernelwright.archive._choice import Choice, Repair, choice_from_json
from kernelwright.archive._context import FACTORS
from kernelwright.archive._entry import FLOOR, Entry, beats
from kernelwright.archive._error import ArchiveError
from kernelwright.archive._repair_pool import Broken, RepairPool
from kernelwright.archive._scene import Scene
from kernelwright.archive._selector import DEFAULT as DEFAULT_STRATEGY
from kernelwright.archive._selector import Selector
from kernelwright.archive._transitions import Transition, Transitions
from kernelwright.archive.strategies import Strategy, UnknownStrategyError, register
from kernelwright.archive.strategies import names as strategy_names

BOTTLENECKS = tuple(FACTORS)

__all__ = [
    "AXES",
    "BOTTLENECKS",
    "CELLS",
    "DEFAULT_STRATEGY",
    "FLOOR",
    "FREELY",
    "LEVELS",
    "WITHIN",
    "Archive",
    "ArchiveError",
    "Broken",
    "Cell",
    "Choice",
    "Direction",
    "Entry",
    "Outcome",
    "Repair",
    "RepairPool",
    "Scene",
    "Selector",
    "Strategy",
    "Transition",
    "Transitions",
    "UnknownStrategyError",
    "beats",
    "choice_from_json",
    "directions",
    "in_words",
    "register",
    "strategy_names",
    "target",
]
