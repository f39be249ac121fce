"""CUDA text with launchers, its device part and its host part compiled at the same time, each without the other.

nvcc reads the CUDA headers three times and does one thing after the other. Here NVRTC compiles the kernels while the
C++ compiler compiles the launchers, with every `kernel<<<grid, block>>>(x)` written out as the call it stands for; the
result registers its kernels with the CUDA runtime as nvcc's does. Whatever is not plainly so is left to nvcc: `split`
gives None, or one of the compilers complains.
"""

import itertools
import re
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kernelwright.native._compile import run
from kernelwright.native._cuda_text import Kind, Piece, exported, is_plain_kernel, pieces
from kernelwright.native._nvrtc import HEADERS, Nvrtc
from kernelwright.native._signatures import without_annotations
from kernelwright.native._tokens import TOKEN

CONFIGURED = "kernelwright_configured"
LAUNCHING = f"""
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __cluster_dims__
#define __cluster_dims__(...)
#undef __maxnreg__
#define __maxnreg__(...)
template <class... P> struct kernelwright_Launch {{
  void (*kernel)(P...); dim3 grid, block; size_t shared; cudaStream_t stream;
  void operator()(P... values) const {{
    void* addresses[] = {{(void*)&values..., nullptr}};
    cudaLaunchKernel((const void*)kernel, grid, block, addresses, shared, stream);
  }}
}};
template <class... P> kernelwright_Launch<P...> {CONFIGURED}(
    void (*kernel)(P...), dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) {{
  return {{kernel, grid, block, shared, stream}};
}}
"""
REGISTERING = r"""
extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
extern "C" __attribute__((visibility("hidden"))) const char kernelwright_code[];
static struct { int magic, version; const void* code; void* more; } kernelwright_binary
    __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, kernelwright_code, nullptr};
__attribute__((constructor)) static void kernelwright_register() {
    void** all = __cudaRegisterFatBinary(&kernelwright_binary);
    EACH
    __cudaRegisterFatBinaryEnd(all);
}
"""
EACH = '__cudaRegisterFunction(all, (const char*)NAME, (char*)"NAME", "NAME", -1, 0, 0, 0, 0, 0);'
# Where cuobjdump looks for device code, too.
CODE = '.section .nv_fatbin, "a"\n.align 8\n.globl kernelwright_code\nkernelwright_code: .incbin "kernel.fatbin"\n'
HOST_FLAGS = ("-O3", "-std=c++17", "-fPIC", "-w", "-fno-ipa-icf", "-include", "cuda_runtime.h")
LINK = ("-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-lcudart_static", "-lrt", "-lpthread", "-ldl")
_STANDARD = re.compile(r"#\s*include\s*<([a-z_]+)>")
_COMPILER_NAMED = re.compile(r"__(?:CUDACC|NVCC)")
_FOR_BOTH = re.compile(r"-[DO].*|-std=.*")


@dataclass(frozen=True)
class Split:
    """The two parts of a text, and the names of its kernels."""

    device: str
    host: str
    kernels: tuple[str, ...]


def split(text: str) -> Split | None:
    """The parts of a text, where they are plainly to be told apart."""
    found = pieces(text)
    kernels = [piece for piece in found if piece.kind is Kind.KERNEL]
    hidden = any(piece.kind is Kind.MIXED or _COMPILER_NAMED.search(piece.head) for piece in found)
    if hidden or not kernels or not all(map(is_plain_kernel, kernels)):
        return None
    names = tuple(map(_name, kernels))
    host = [_for_host(piece, names) for piece in found]
    if None in host or len(set(names)) < len(names):
        return None
    return Split("".join(map(_for_device, found)), "".join(map(str, host)), names)


def _name(kernel: Piece) -> str:
    plain = without_annotations(kernel.words)
    return plain[plain.index("(") - 1]


def _for_device(piece: Piece) -> str:
    named = _STANDARD.search(piece.head) if piece.kind is Kind.DIRECTIVE else None
    unknown = named is not None and named[1] not in HEADERS
    return _blank(piece.text) if piece.kind is Kind.HOST or unknown else exported(piece)


def _for_host(piece: Piece, kernels: Sequence[str]) -> str | None:
    if piece.kind is Kind.DEVICE:
        return _blank(piece.text)
    if piece.kind is Kind.KERNEL:
        return f"{piece.head}{{{_blank(piece.body)}}}"
    written = _launches_written_out(piece.body, kernels) if piece.kind is Kind.HOST else piece.body
    return None if written is None else piece.head + written


def _blank(text: str) -> str:
    return "\n" * text.count("\n")


def _launches_written_out(body: str, kernels: Sequence[str]) -> str | None:
    """A function's body without `<<<` and `>>>`; None if a launch has not the form that is understood."""
    tokens = [match for match in TOKEN.finditer(body) if match.lastgroup != "space"]
    if any(first[0] in kernels and second[0] == "(" for first, second in itertools.pairwise(tokens)):
        return None  # called like a function, which nvcc refuses
    signs = [(at, sign) for at in range(len(tokens)) for sign in "<>" if _is_triple(tokens[at : at + 3], sign)]
    written, done = "", 0
    for (first, opening), (last, closing) in zip(signs[::2], signs[1::2], strict=False):
        kernel, after = tokens[first - 1], tokens[last + 3 : last + 4]
        if (opening, closing) != ("<", ">") or kernel[0] not in kernels or not after or after[0][0] != "(":
            return None
        shape = body[tokens[first + 2].end() : tokens[last].start()]
        written += f"{body[done : kernel.start()]}{CONFIGURED}({kernel[0]}, {shape})"
        done = tokens[last + 2].end()
    return written + body[done:] if len(signs) % 2 == 0 else None


def _is_triple(tokens: Sequence[re.Match[str]], sign: str) -> bool:
    return [token[0] for token in tokens] == [sign] * 3 and tokens[2].end() - tokens[0].start() == 3


# *** compiling ***


@dataclass(frozen=True)
class Tools:
    """What the two parts are compiled with."""

    nvrtc: Nvrtc
    compiler: Path
    toolkit: Path

    def compile(self, parts: Split, architecture: str, flags: Sequence[str], ending: str) -> bytes:
        """A shared library; raises CompileError where either part does not compile."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as name, ThreadPoolExecutor(1) as beside:
            folder = Path(name)
            code = beside.submit(self.nvrtc.compile, parts.device, architecture, flags)
            self._compile_host(folder, parts, flags, ending)
            (folder / "kernel.cubin").write_bytes(code.result())
            self._link(folder, architecture)
            return (folder / "kernel.so").read_bytes()

    def _compile_host(self, folder: Path, parts: Split, flags: Sequence[str], ending: str) -> None:
        registering = REGISTERING.replace("EACH", " ".join(EACH.replace("NAME", name) for name in parts.kernels))
        (folder / "kernel.cpp").write_text(f"{LAUNCHING}\n{parts.host}\n{ending}{registering}")
        own = [flag for flag in flags if _FOR_BOTH.fullmatch(flag)]
        include = f"-I{self.toolkit / 'include'}"
        run([str(self.compiler), *HOST_FLAGS, *own, include, "-c", "kernel.cpp", "-o", "kernel.o"], folder)

    def _link(self, folder: Path, architecture: str) -> None:
        image = f"--image3=kind=elf,sm={architecture.removeprefix('sm_')},file=kernel.cubin"
        run([str(self.toolkit / "bin" / "fatbinary"), "-64", "--create=kernel.fatbin", image], folder)
        (folder / "code.s").write_text(CODE)
        libraries = f"-L{self.toolkit / 'lib64'}"
        run([str(self.compiler), "code.s", "kernel.o", libraries, *LINK, "-o", "kernel.so"], folder)
