"""One module a language: is its toolchain here, does a candidate use it, what in a candidate deserves a look.

Every module of this package without a leading underscore is a language and registers itself: adding one is
adding a file. What a language needs to compile and call lives in `kernelwright.native`; whether a candidate
is right or honest is decided elsewhere.
"""

import importlib
import pkgutil

from kernelwright.backends._backend import Availability, Backend, Listing, Scope
from kernelwright.backends._describe import Code, describe
from kernelwright.backends._device import usable_gpu, without_device
from kernelwright.backends._native_sources import native_sources
from kernelwright.backends._registry import UnknownBackendError, detect, get, names, register
from kernelwright.backends._sass import KernelCode, kernel_counts, plain_name, read_ptx, read_sass

for _module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
    if not _module.name.rpartition(".")[2].startswith("_"):
        importlib.import_module(_module.name)

__all__ = [
    "Availability",
    "Backend",
    "Code",
    "KernelCode",
    "Listing",
    "Scope",
    "UnknownBackendError",
    "describe",
    "detect",
    "get",
    "kernel_counts",
    "names",
    "native_sources",
    "plain_name",
    "read_ptx",
    "read_sass",
    "register",
    "usable_gpu",
    "without_device",
]
