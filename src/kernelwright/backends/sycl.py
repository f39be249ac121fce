"""SYCL kernels for the processor, compiled by `kernelwright.native` with Intel's packages."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernelwright import native
from kernelwright.backends._backend import Availability, Backend
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import screen_native
from kernelwright.backends._registry import register
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from kernelwright.backends._strategy._program import Program

# The smallest program that needs everything a candidate may: both compilers, their headers, the driver.
_PROBE = native.Source(
    "sycl",
    """#include <sycl/sycl.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void probe(int* x) { *x = 1; }
""",
)

# Which words of SYCL prove what; `backends.describe` reads it.
_STRATEGY = Vocabulary(
    calls={
        "load": r"\.load|(?:\w+::)*(?:group_load|block_load)",
        "store": r"\.store|(?:\w+::)*(?:group_store|block_store)",
        "shape": r"\.load|\.store|(?:\w+::)*(?:group|block)_(?:load|store)",
        "ahead": r"(?:\w+::)*(?:joint_)?prefetch|\.prefetch",
        "copy": r"\.async_work_group_copy|(?:\w+::)*async_group_copy",
        "meet": r"(?:sycl::)?group_barrier|\.barrier|\.wait_for|\.arrive_and_wait",
        "exchange": r"(?:sycl::)?(?:shift_group_(?:left|right)|permute_group_by_xor|select_from_group|group_broadcast"
        r"|(?:any|all|none)_of_group|reduce_over_group|joint_reduce|(?:joint_)?\w+clusive_scan(?:_over_group)?|reduction)"
        r"|\.shuffle\w*",
        "combine": r"(?:sycl::)?(?:reduce_over_group|joint_reduce)",
        "scan": r"(?:sycl::)?(?:joint_)?(?:in|ex)clusive_scan(?:_over_group)?",
        "engine": r"(?:\w+::)*(?:joint_matrix_mad|dpas)",
        "sort": r"(?:\w+::)*(?:joint_sort|sort_over_group)",
        "fma": r"(?:sycl::|std::)?(?:fmaf?|mad)",
        "plain": r"static_cast|sycl::(?:half|bit_cast)|\.(?:convert|get|get_pointer|get_multi_ptr)",
        "atomic": r"\.(?:fetch_\w+|compare_exchange\w*)",
    },
    types={"atomic": r"\batomic_ref\b"},
    wide_type=r"\bvec\s*<|\b(?:u?(?:char|short|int|long)|float|double|half)(?:[248]|16)\b",
    fast_memory_type=r"\bwork_group_static\b|\blocal_accessor\b|\bgroup_local_memory|\bwork_group_(?:memory|scratch)",
    group=r"\bget_group(?:_id|_linear_id)?\(",
    groups=r"\bget_group_range\b|\bget_num_groups\b",
    member=r"\bget_(?:local|global)_(?:linear_)?id\b|\bget_local_range\b",
    everyone=r"root_group",
    predefined={
        "SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(x)": "__global__",
        "SYCL_EXTERNAL": "",
        "__restrict__": "",
        "__restrict": "",
    },
)


@register
class Sycl(Backend):
    """SYCL text in the candidate: free functions launched over a range of work-items."""

    name = "sycl"
    strategy = _STRATEGY

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

    def programs(self, source: str) -> "Iterable[Program]":
        from kernelwright.backends._strategy._candidate import native_programs

        return native_programs(source, self.name, self.strategy)

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *screen_native(candidate_text))


def _fix() -> str:
    """The first thing that is missing: the host compiler, or the packages."""
    try:
        native.toolchain()
    except native.ToolchainError:
        return "unset KERNELWRIGHT_CXX" if os.environ.get("KERNELWRIGHT_CXX") else native.install_command()
    return native.SYCL_INSTALL
