"""One module a strategy: which elite to build on, and where to take it.

Every module of this package without a leading underscore registers itself: adding a strategy is adding a file. A
strategy is given a scene with at least one elite and the only source of chance that it may use.
"""

import importlib
import pkgutil

from kernelwright.archive.strategies._registry import Strategy, UnknownStrategyError, get, names, register

for _module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
    if not _module.name.rpartition(".")[2].startswith("_"):
        importlib.import_module(_module.name)

__all__ = ["Strategy", "UnknownStrategyError", "get", "names", "register"]
