"""What compiled code takes back of what a text asks for: C++ by the compiler here, GPUs' code as it was recorded."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright import backends, native
from kernelwright.backends import kernel_counts, read_ptx, read_sass
from kernelwright.backends._disassembly import SIGNS
from tests.archive_labels import Labelled, candidate, cpp, later

RECORDED = Path(__file__).parent / "recorded"
HONEST = [*cpp.KERNELS, *later.KERNELS["cpp"]]
VECTORS = ("vector_128", "vector_256", "vector_512", "vector_moves")
# Labelled by what it asks for: vectors of a function (erf) that most compilers have for single numbers alone.
IN_VAIN = {"gelu_simd_clause": (0, 0, 1)}
by_the_compiler = pytest.mark.skipif(
    shutil.which("objdump") is None or platform.machine() != "x86_64", reason="needs objdump on x86-64"
)


@pytest.fixture(scope="module")
def cpp_code(tmp_path_factory):
    """What the judge would count in a C++ candidate's libraries."""
    folder, listing = tmp_path_factory.mktemp("libraries"), backends.get("cpp").listing

    def counted(source: str) -> backends.Code:
        library = folder / "kernel.so"
        (text,) = backends.native_sources(source)
        native.compile_source(text, library)
        shown = subprocess.run([*listing.command, library], capture_output=True, text=True, check=True).stdout
        return {"cpp": listing.counts(shown)}

    return counted


# *** C++ ***


@by_the_compiler
@pytest.mark.parametrize("kernel", HONEST, ids=lambda kernel: kernel.name)
def test_nobody_who_is_honest_is_moved(kernel: Labelled, cpp_code):
    try:
        code = cpp_code(kernel.source)
    except native.CompileError as error:
        pytest.skip(f"does not compile for this processor: {error.headline}")
    found = backends.describe(kernel.source, code=code)
    in_vain = kernel.name in IN_VAIN and not any(code["cpp"][sign] for sign in VECTORS)
    assert found.cell == (IN_VAIN[kernel.name] if in_vain else kernel.cell), found.evidence


def written(text: str, *flags: str) -> str:
    """A candidate around a text, compiled with these flags."""
    source = candidate("cpp", text, "lib.run(x, y, *sizes)")
    return source.replace('"""\n)', f'""", flags={list(flags)!r}\n)') if flags else source


LANES = "typedef float lanes __attribute__((vector_size(32)));\n"
SCALAR = "-fno-tree-vectorize"
INFLATED = {
    "a simd clause over a function that has no vector form": (
        """
#include <cmath>
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp simd
    for (long i = 0; i < n; i++) y[i] = std::lgamma(x[i]);
}
""",
        (),
        (1, 0, 0),
        (0, 0, 0),
    ),
    "a vector of which one lane is used": (
        """
#include <immintrin.h>
extern "C" void run(const float* x, float* y, long n) {
    float fading = 0.0f;
    for (long i = 0; i + 8 <= n; i++) {
        fading = 0.5f * fading + _mm256_cvtss_f32(_mm256_loadu_ps(x + i));
        y[i] = fading;
    }
}
""",
        (),
        (1, 0, 0),
        (0, 0, 0),
    ),
    "a vector type that the compiler takes apart": (
        LANES
        + """
#include <cmath>
#include <cstring>
extern "C" void run(const float* x, float* y, long n) {
    for (long i = 0; i < n; i += 8) {
        lanes v;
        std::memcpy(&v, x + i, sizeof v);
        y[i] = std::lgamma(v[0]);
    }
}
""",
        (),
        (1, 0, 0),
        (0, 0, 0),
    ),
    "a reduction clause on a loop that stays one worker's": (
        """
extern "C" void run(const float* x, float* y, long n) {
    float total = 0.0f;
    #pragma omp simd reduction(+ : total)
    for (long i = 0; i < n; i++) total += x[i];
    y[0] = total;
}
""",
        (SCALAR, "-fno-openmp"),
        (1, 0, 2),
        (0, 0, 0),
    ),
    "a team where directives are switched off": (
        """
extern "C" void run(const float* x, float* y, long n) {
    #pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0.0f;
}
""",
        ("-fno-openmp",),
        (0, 0, 3),
        (0, 0, 0),
    ),
    "a branch that no compiler keeps": (
        """
#include <atomic>
extern "C" void run(const float* x, float* y, long n) {
    std::atomic<long> seen(0);
    for (long i = 0; i < n; i++) {
        if (sizeof(long) == 2) {
            __builtin_prefetch(x + i + 256);
            seen.fetch_add(1);
        }
        y[i] = x[i] + 1.0f;
    }
}
""",
        (SCALAR,),
        (1, 0, 3),
        (0, 0, 0),
    ),
}


@by_the_compiler
@pytest.mark.parametrize("name", INFLATED)
def test_what_the_compiler_did_not_make_is_not_credited(name: str, cpp_code):
    text, flags, by_text, by_code = INFLATED[name]
    source = written(text, *flags)
    assert backends.describe(source).cell == by_text
    found = backends.describe(source, code=cpp_code(source))
    assert found.cell == by_code, found.evidence
    taken = [words for axis in found.evidence.values() for words in axis if "not in the compiled code: " in words]
    assert taken
    assert all(words.startswith("0: ") for words in taken)


@by_the_compiler
def test_a_plain_loop_that_the_compiler_vectorised_is_still_plain(cpp_code):
    source = written('extern "C" void run(const float* x, float* y, long n) {\n'
                     "    for (long i = 0; i < n; i++) y[i] = 2.0f * x[i] + 1.0f;\n}\n")  # fmt: skip
    code = cpp_code(source)
    assert any(code["cpp"][f"vector_{bits}"] for bits in (128, 256, 512))
    assert backends.describe(source, code=code).cell == (0, 0, 0)


@by_the_compiler
def test_arithmetic_is_counted_by_width_and_moves_where_they_repeat(cpp_code):
    axpy = """
#include <immintrin.h>
extern "C" void run(const float* x, float* y, float a, long n) {
    const __m256 factor = _mm256_set1_ps(a);
    for (long i = 0; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(factor, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
}
"""
    counts = cpp_code(written(axpy, "-march=haswell", "-fno-unroll-loops"))["cpp"]
    assert tuple(counts) == SIGNS
    assert (counts["vector_256"], counts["vector_128"], counts["fused"]) == (1, 0, 1)
    assert counts["vector_moves"] in (2, 3)  # the second load may be part of the multiply-add
    once = """
struct Four { float a, b, c, d; };
extern "C" void run(const Four* x, Four* y, long n) {
    *y = *x;
    for (long i = 1; i < n; i++) y[i].a = x[i].a + y[i - 1].a;
}
"""
    counts = cpp_code(written(once, "-march=haswell"))["cpp"]
    assert (counts["vector_moves"], counts["vector_128"]) == (0, 0)
    assert counts["scalar"] > 0


# *** CUDA and Triton, as nvcc 13.0 and Triton 3.6 compiled these texts for sm_90 (listings shortened) ***


def recorded(name: str) -> dict[str, int]:
    text = (RECORDED / name).read_text()
    kernels = read_ptx(text) if name.endswith(".ptx") else read_sass(text)
    assert kernels
    return kernel_counts(kernels)


def cuda(staged: str, wide: str) -> str:
    text = f"""
extern "C" __global__ void staged(const float* x, float* y, int n) {{
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    {staged}
}}
extern "C" __global__ void wide(const float* x, float* y, int n) {{
    int i = blockIdx.x * 256 + threadIdx.x;
    {wide}
}}
"""
    return candidate("cuda", text, "lib.staged[(n // 256,), (256,)](x, y, n)", "lib.wide[(n // 256,), (256,)](x, y, n)")


HONEST_CUDA = cuda(
    "tile[threadIdx.x] = x[i]; __syncthreads(); y[i] = tile[255 - threadIdx.x] + 1.0f;",
    "if (i < n) { float4 v = reinterpret_cast<const float4*>(x)[i]; y[i] = v.x + v.y + v.z + v.w; }",
)
# The branch is none for the compiler, since a float is longer; and of four floats one is used.
INFLATED_CUDA = cuda(
    "float value = x[i]; if (sizeof(float) == 2) { tile[threadIdx.x] = x[i]; __syncthreads();"
    " value = tile[255 - threadIdx.x]; } y[i] = value + 1.0f;",
    "if (i < n) y[i] = reinterpret_cast<const float4*>(x)[i].x;",
)


@pytest.mark.parametrize(
    ("source", "listing", "cell"),
    [(HONEST_CUDA, "cuda_honest.sass", (2, 0, 1)), (INFLATED_CUDA, "cuda_inflated.sass", (0, 0, 0))],
    ids=["honest", "inflated"],
)
def test_shared_memory_and_wide_loads_that_a_gpus_code_does_not_have_are_not_credited(source, listing, cell):
    assert backends.describe(source).cell == (2, 0, 1)
    found = backends.describe(source, code={"cuda": recorded(listing)})
    assert found.cell == cell, found.evidence
    shaped = any(words.startswith("1: several neighbours at once") for words in found.evidence["memory"])
    assert shaped == (source is HONEST_CUDA)


TRITON = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
BODY


class ModelNew(torch.nn.Module):
    def forward(self, x, w, y, n):
        kernel[(n // 16, n // 16)](x, w, y, n, BLOCK=16, num_warps=1, num_stages=3)
        return y
"""
PRODUCT = TRITON.replace(
    "BODY",
    """    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        a = tl.load(x_ptr + row[:, None] * n + at[None, :])
        b = tl.load(w_ptr + at[:, None] * n + col[None, :])
        acc += tl.dot(a, b, input_precision="tf32")
    tl.store(y_ptr + row[:, None] * n + col[None, :], acc)""",
)
ROW_SUMS = TRITON.replace(
    "BODY",
    """    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n):
        sums += tl.load(x_ptr + row * n + start)
    tl.store(y_ptr + row, sums)""",
)


@pytest.mark.parametrize(
    ("source", "listing", "by_text", "by_code"),
    [
        (PRODUCT, "triton_tf32.ptx", (3, 3, 1), (3, 3, 1)),
        (PRODUCT.replace("tf32", "ieee"), "triton_ieee.ptx", (3, 3, 1), (3, 0, 1)),
        (ROW_SUMS, "triton_rows.ptx", (3, 0, 0), (0, 0, 0)),
    ],
    ids=["tensor cores", "a product by multiply-adds", "stages of a loop that Triton does not pipeline"],
)
def test_what_triton_did_not_make_is_not_credited(source, listing, by_text, by_code):
    assert backends.describe(source).cell == by_text
    found = backends.describe(source, code={"triton": recorded(listing)})
    assert found.cell == by_code, found.evidence


# *** any language ***


def described(language: str, text: str, **signs: int) -> tuple[int, int, int]:
    """The cell of a text whose code has these signs, and none else."""
    known = {sign: 0 for trace in backends.get(language).signs.values() for sign in trace}
    return backends.describe(text, language, code={language: known | signs}).cell


def test_a_sign_that_nobody_counted_speaks_against_nobody():
    source = next(kernel.source for kernel in HONEST if kernel.name == "axpy_vectors")
    assert backends.describe(source, code={"cpp": {}}).cell == (1, 0, 0)
    assert backends.describe(source, code={"cpp": {"vector_256": 0}}).cell == (1, 0, 0)
    assert described("cpp", source) == (0, 0, 0)
    assert described("cpp", source, vector_512=1) == (1, 0, 0)


def test_the_code_of_another_language_says_nothing():
    source = next(kernel.source for kernel in HONEST if kernel.name == "relu_team")
    assert backends.describe(source, code={"cuda": {"barriers": 0}}).cell == (0, 0, 1)
    assert backends.describe(source, code={"cpp": {"threading": 0}}).cell == (0, 0, 0)


@pytest.mark.parametrize("language", ["cpp", "cuda", "triton"])
def test_every_sign_that_is_looked_for_is_counted(language):
    counted = SIGNS if language == "cpp" else tuple(kernel_counts([]))
    assert {sign for trace in backends.get(language).signs.values() for sign in trace} <= set(counted)
