"""CUDA for NVIDIA GPUs, compiled by `kernelwright.native` or by PyTorch's own extension loader."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernelwright import native
from kernelwright.backends._backend import Availability, Backend, Scope
from kernelwright.backends._device import more, usable_gpu, without_device
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import loads_cuda, screen_native
from kernelwright.backends._registry import register
from kernelwright.backends._strategy._vocabulary import Vocabulary

if TYPE_CHECKING:
    from kernelwright.backends._strategy._program import Program

_NATIVE = "kernelwright.native.cuda"
_KERNEL = 'extern "C" __global__ void probe(float* x) { x[threadIdx.x] = 0; }'
# The smallest program that needs everything a candidate may: both compilers, the headers, the runtime, the linker.
_LAUNCHER = _KERNEL + ' extern "C" void launch(float* x) { probe<<<1, 1>>>(x); }'
_WORTH_A_LOOK = {
    "cuda-l2": r"\bcudaAccessPolicyWindow|\bcudaLimitPersistingL2\w*|\bcudaCtxResetPersistingL2\w*",
    "cuda-library": r"\bcu(?:blas|dnn|fft|rand|solver|sparse|tensor)\w*",
    "cuda-memory": r"\bcuda(?:Malloc|HostAlloc|HostRegister|Free)\w*",
    "cuda-streams": r"\bcuda(?:Stream(?:Create|Begin|End)|Graph|Event|LaunchHostFunc)\w*",
}

# Which words of CUDA prove what; `backends.describe` reads it. Of strings only assembly counts.
_GROUPS = r"(?:cg|cooperative_groups)::"
_STRATEGY = Vocabulary(
    calls={
        "load": r"__ld(?:g|cs|ca|cg|lu|cv)|tex\dD\w*",
        "store": r"__st(?:cs|cg|wb|wt)",
        "shape": r"__ld(?:g|cs|ca|cg|lu|cv)|__st(?:cs|cg|wb|wt)|tex\dD\w*|__builtin_assume_aligned",
        "ahead": r"__prefetch_\w+|__builtin_prefetch",
        "copy": rf"__pipeline_memcpy_async|(?:cuda::|{_GROUPS})memcpy_async"
        r"|(?:\w+::)*cp_async_bulk(?!_(?:commit|wait))\w*",
        "meet": rf"__syncthreads\w*|__syncwarp|{_GROUPS}sync|\.(?:sync|arrive_and_wait|wait|consumer_wait|try_wait\w*)",
        "exchange": rf"__shfl\w*|__(?:ballot|any|all|match_\w+|reduce_\w+)_sync|{_GROUPS}(?:reduce|\w+clusive_scan)"
        r"|\.(?:shfl\w*|ballot|Sum|Reduce|InclusiveSum|ExclusiveSum|InclusiveScan|ExclusiveScan)",
        "combine": rf"__reduce_\w+_sync|{_GROUPS}reduce|\.(?:Sum|Reduce)",
        "scan": rf"__shfl_up_sync|{_GROUPS}\w+clusive_scan|\.(?:shfl_up|(?:In|Ex)clusive(?:Sum|Scan))",
        "engine": r"(?:\w+::)*(?:mma_sync|bmma_sync)|(?:cute|cutlass)::gemm",
        "fma": r"(?:std::)?fmaf?|__f(?:ma|maf)_r\w|__hfma2?\w*|__dp4a",
        "times": r"__f?d?mul_r\w|__hmul2?",
        "plain": r"__\w+2\w+|make_\w+|static_cast|__cvta_\w+",
        "atomic": r"(?:unsafe)?[aA]tomic(?:Add|Sub|Max|Min|CAS|Exch|Inc|Dec|And|Or|Xor)"
        r"|\.(?:fetch_\w+|compare_exchange\w*)",
        "across": r"\.map_shared_rank",
    },
    assembly={
        "shape": r"\b(?:ld|st)\.global[\w.:]*\.v[248]|\bld\.global\.nc|\bL2::(?:128B|256B|evict)",
        "ahead": r"\bprefetch(?:u)?\.",
        "copy": r"\bcp\.async\.(?:c[ag]\.|bulk\.shared|bulk\.tensor\.\dd\.shared)",
        "meet": r"\bbar(?:rier)?\.(?:sync|cta)|\bmbarrier\.(?:try_|test_)wait|\bwait_(?:group|all)\b",
        "exchange": r"\b(?:shfl|vote|redux|match)\.sync",
        "engine": r"\bmma\.sync|\bwmma\.mma|\bwgmma\.mma_async|\btcgen05\.mma",
        "atomic": r"\b(?:atom|red)\.(?!async|shared)[\w.]*(?:add|min|max|cas|exch|inc)",
        "across": r"\bbarrier\.cluster|\bmapa\.|\bmulticast::cluster|\bmultimem\.",
    },
    types={"atomic": r"\bcuda::atomic(?:_ref)?\b"},
    wide_type=r"\b(?:u?(?:char|short|int|long|longlong)|float|double)[248]\b|\b(?:__)?(?:half2|nv_bfloat162)\b",
    seen_type=r"\b(?:(?:u?(?:int|long|longlong)|float|double)[248]|u?short4|u?char8)\b",
    group=r"\bblockIdx\b",
    groups=r"\bgridDim\b",
    member=r"\bthreadIdx\b|\bblockDim\b",
    everyone=r"\bthis_grid\b|\bthis_cluster\b",
    predefined={"__restrict__": "", "__restrict": "", "__grid_constant__": "", "__cluster_dims__(...)": ""},
)

# What is left of that in a GPU's code. Hints leave none where they ask for what is usual anyway.
_SIGNS = {
    "wide": ("wide",),
    "shared": ("shared", "shared_bytes", "async_copies"),
    "copy": ("async_copies",),
    "engine": ("tensor",),
    "engine group": ("tensor", "shuffles", "shared", "barriers"),
    "meet": ("barriers", "shuffles", "shared"),
    "exchange": ("shuffles", "shared", "barriers"),
    "atomic": ("atomics", "shared"),
}


@register
class Cuda(Backend):
    """CUDA text in the candidate, called through its `extern "C"` launchers and kernels."""

    name = "cuda"
    strategy = _STRATEGY
    signs = _SIGNS
    for_device = True

    def available(self) -> Availability:
        try:
            compilers = native.cuda_compilers()
            probe = native.Source("cuda", _LAUNCHER if native.has_nvcc() else _KERNEL)
            native.BuildCache(native.cache_dir() / "build").get(probe)
        except native.CompileError as fault:
            return Availability(False, fault.headline, _fix(fault))
        except OSError as fault:
            return Availability(False, f"cannot build: {fault}", "export KERNELWRIGHT_CACHE=$(mktemp -d)")
        return Availability(True, f"{compilers}; {_does()}", _fix_launchers(), more())

    def recognises(self, candidate_text: str) -> bool:
        tree = parse(candidate_text)
        return tree is not None and any(
            origin == _NATIVE or loads_cuda(origin, call, candidate_text) for origin, call in Names(tree).calls(tree)
        )

    def scope(self) -> Scope:
        return Scope.TIMED if usable_gpu() else Scope.COMPILED

    def programs(self, source: str) -> "Iterable[Program]":
        from kernelwright.backends._strategy._candidate import native_programs

        return native_programs(source, self.name, self.strategy)

    def screen(self, candidate_text: str) -> tuple[str, ...]:
        return (*super().screen(candidate_text), *screen_native(candidate_text, _WORTH_A_LOOK))


def _does() -> str:
    here = usable_gpu()
    if here:
        return f"candidates are judged on the {here.name}"
    return f"candidates are compiled for {native.chosen_architecture()}, not run and not checked: {without_device()}"


def _fix_launchers() -> str:
    """What a text with launchers needs that is not here."""
    return "" if native.has_nvcc() else native.nvcc_fix()


def _fix(fault: native.CompileError) -> str:
    if "KERNELWRIGHT_CUDA_ARCH" in fault.headline:
        return "unset KERNELWRIGHT_CUDA_ARCH"
    return native.nvcc_fix() if isinstance(fault, native.ToolchainError) else native.install_command()
