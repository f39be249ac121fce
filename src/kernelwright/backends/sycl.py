"""SYCL kernels for the processor, compiled by `kernelwright.native` with Intel's packages."""

import os

from kernelwright import native
from kernelwright.backends._backend import Availability, Backend
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import screen_native
from kernelwright.backends._registry import register

# The smallest program that needs everything a candidate may: both compilers, their headers, the driver.
_PROBE = native.Source(
    "sycl",
    """#include <sycl/sycl.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void probe(int* x) { *x = 1; }
""",
)


@register
class Sycl(Backend):
    """SYCL text in the candidate: free functions launched over a range of work-items."""

    name = "sycl"

    def available(self) -> Availability:
        try:
            found = native.sycl_packages()
            native.BuildCache(native.cache_dir() / "build").get(_PROBE)
        except native.CompileError as fault:
            return Availability(False, fault.headline, _fix())
        except OSError as fault:
            return Availability(False, f"cannot build: {fault}", "export KERNELWRIGHT_CACHE=$(mktemp -d)")
        return Availability(True, f"on this processor, packages in {found.root}")

    def recognises(self, candidate_text: str) -> bool:
        tree = parse(candidate_text)
        return tree is not None and any(origin == "kernelwright.native.sycl" for origin, _ in Names(tree).calls(tree))

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *screen_native(candidate_text))


def _fix() -> str:
    """The first thing that is missing: the host compiler, or the packages."""
    try:
        native.toolchain()
    except native.ToolchainError:
        return "unset KERNELWRIGHT_CXX" if os.environ.get("KERNELWRIGHT_CXX") else native.install_command()
    return native.SYCL_INSTALL
