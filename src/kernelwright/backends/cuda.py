"""CUDA for NVIDIA GPUs, compiled by `kernelwright.native` or by PyTorch's own extension loader."""

from kernelwright import native
from kernelwright.backends._backend import Availability, Backend, Scope
from kernelwright.backends._device import more, usable_gpu, without_device
from kernelwright.backends._names import Names, parse
from kernelwright.backends._native_text import loads_cuda, screen_native
from kernelwright.backends._registry import register

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


@register
class Cuda(Backend):
    """CUDA text in the candidate, called through its `extern "C"` launchers and kernels."""

    name = "cuda"
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
