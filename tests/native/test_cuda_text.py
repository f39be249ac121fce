"""CUDA text taken apart, and put together again for two compilers. Needs neither of them."""

import pytest

from kernelwright.native._cuda_split import split
from kernelwright.native._cuda_text import Kind, exporting, is_kernels_only, pieces

KERNEL = "__global__ void relu(const float* x, float* y, int n) {\n    y[0] = x[0] > 0 ? x[0] : n;\n}\n"
LAUNCHER = """extern "C" void launch(const float* x, float* y, int n, cudaStream_t stream) {
    relu<<<dim3((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
"""
MANY = r"""#include <cuda_runtime.h>
#define TWICE(x) \
    (2 * (x))
// a brace in a comment {
constexpr int N = 256;
struct alignas(16) Four { float a[4]; };
static const float table[2] = {1, 2};
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ float positive(float v) { return v > 0 ? v : "}"[0]; }
template <int M = 4> __device__ float more(float v = 3) { return v + M; }
__host__ __device__ inline int blocks(int n) { return (n + 255) / 256; }
namespace { __device__ int one() { return 1; } }
static float* kept;
"""


def kinds(text: str) -> list[Kind]:
    return [piece.kind for piece in pieces(text)][:-1]


@pytest.mark.parametrize("text", [MANY + KERNEL + LAUNCHER, KERNEL, "", "int f(", "}{", "#define A \\\n B\n\nint x;"])
def test_the_pieces_together_are_the_text(text):
    assert "".join(piece.text for piece in pieces(text)) == text


def test_every_declaration_is_told_by_whom_it_is_for():
    directive, both, device, host = Kind.DIRECTIVE, Kind.BOTH, Kind.DEVICE, Kind.HOST
    assert kinds(MANY) == [directive, directive, both, both, both, device, device, device, both, device, host]
    assert kinds(KERNEL + LAUNCHER) == [Kind.KERNEL, Kind.HOST]


@pytest.mark.parametrize(
    "text",
    [
        "#define MAKE(name) __global__ void name(float* y) {}\nMAKE(a)",
        "__global__ void later(float* y);",
        'extern "C" { __global__ void k() {} void launch() { k<<<1, 1>>>(); } }',
        "__global__ void cut_off(float* y) {",
    ],
)
def test_what_cannot_be_told_apart_is_left_alone(text):
    assert not is_kernels_only(text)
    assert exporting(text) == text
    assert split(text + LAUNCHER) is None


def test_kernels_without_a_launcher_become_callable_and_keep_their_lines():
    text = f"// first\n{KERNEL}template <int N> __global__ void some(float* y) {{}}\n"
    assert is_kernels_only(text)
    assert exporting(text) == text.replace("__global__", 'extern "C" __global__', 1)


@pytest.mark.parametrize("text", [KERNEL + LAUNCHER, 'extern "C" ' + KERNEL, f"namespace a {{ {KERNEL} }}"])
def test_other_kernels_stay_as_they_are(text):
    assert exporting(text) == text


# Two parts


def test_the_parts_have_each_what_they_need_on_the_same_lines():
    parts = split(MANY + KERNEL + LAUNCHER)
    assert parts.kernels == ("relu",)
    assert 'extern "C" __global__ void relu' in parts.device
    assert "launch" not in parts.device
    assert "kept" not in parts.device
    assert "kernelwright_configured(relu, dim3((n + 255) / 256), 256, 0, stream)(x, y, n);" in parts.host
    assert "x[0] > 0" not in parts.host
    assert "positive" not in parts.host
    assert "weights" not in parts.host
    for line in ("#include <cuda_runtime.h>", "constexpr int N = 256;", "struct alignas(16) Four { float a[4]; };"):
        assert parts.device.splitlines().index(line) == parts.host.splitlines().index(line)
    assert {text.count("\n") for text in (parts.device, parts.host)} == {(MANY + KERNEL + LAUNCHER).count("\n")}


@pytest.mark.parametrize(
    "launcher",
    [
        "relu(x, y, n);",
        "unknown<<<1, 256>>>(x, y, n);",
        "relu<256><<<1, 256>>>(x, y, n);",
        "(n ? relu : relu)<<<1, 256>>>(x, y, n);",
        "relu<<<1, 256>>>;",
        "relu<<<1, 256;",
    ],
)
def test_a_launch_in_another_form_is_nvccs(launcher):
    assert split(f'{KERNEL}extern "C" void launch(const float* x, float* y, int n) {{ {launcher} }}') is None


def test_signs_in_words_and_comments_are_no_launch():
    launcher = 'extern "C" int launch() { /* <<< */ const char* s = "a<<<b"; return 8 >> 2 >> 1; }'
    parts = split(KERNEL + launcher)
    assert launcher in parts.host


@pytest.mark.parametrize(
    "kernel",
    [
        "template <int N> " + KERNEL,
        "static " + KERNEL,
        f"namespace a {{ {KERNEL} }}",
        KERNEL + KERNEL.replace("float*", "int*"),
        "#ifdef __CUDACC__\n#endif\n" + KERNEL,
    ],
)
def test_kernels_of_no_name_of_their_own_are_nvccs(kernel):
    assert split(kernel + LAUNCHER) is None
