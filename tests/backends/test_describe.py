import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright import backends
from tests.archive_labels import Labelled, candidate, cpp, cuda, later, sycl, triton

LANGUAGES = {"cpp": cpp.KERNELS, "cuda": cuda.KERNELS, "sycl": sycl.KERNELS, "triton": triton.KERNELS}
KERNELS = [
    (language, kernel) for language, kernels in LANGUAGES.items() for kernel in [*kernels, *later.KERNELS[language]]
]
TRAPS = [(language, kernel) for language, kernel in KERNELS if kernel.trap]
AXES = ["memory", "algorithm", "coordination"]


def _named(case: tuple[str, Labelled]) -> str:
    return f"{case[0]}-{case[1].name}"


def _wrong(cases: list[tuple[str, Labelled]]) -> list[str]:
    found = [(language, kernel, backends.describe(kernel.source, language)) for language, kernel in cases]
    return [
        f"{language} {kernel.name}: labelled {kernel.cell} ({kernel.why}), described {description.cell}: "
        f"{description.evidence}"
        for language, kernel, description in found
        if description.cell != kernel.cell
    ]


def _kernel(language: str, name: str) -> str:
    return next(kernel.source for kernel in LANGUAGES[language] if kernel.name == name)


def test_the_labelled_set_is_large_enough():
    assert all(len(kernels) >= 25 for kernels in LANGUAGES.values())
    assert len(KERNELS) >= 100
    assert len(TRAPS) >= 12


def test_at_least_95_of_100_labelled_kernels_are_described_right():
    wrong = _wrong(KERNELS)
    share = 1 - len(wrong) / len(KERNELS)
    print(f"{len(KERNELS) - len(wrong)} of {len(KERNELS)} kernels right ({share:.1%})", *wrong, sep="\n")
    assert share >= 0.95, "\n".join(wrong)


@pytest.mark.parametrize("case", TRAPS, ids=_named)
def test_what_looks_like_more_than_it_is_fools_nobody(case):
    assert not _wrong([case])


@pytest.mark.parametrize("case", KERNELS, ids=_named)
def test_the_language_is_found_and_every_level_has_its_reason(case):
    _, kernel = case
    description = backends.describe(kernel.source)
    assert description.cell == backends.describe(kernel.source, case[0]).cell
    assert list(description.evidence) == AXES
    for level, words in zip(description.cell, description.evidence.values(), strict=True):
        assert words[0].startswith(f"{level}: ")
        assert "could not be read" not in words[0]


@pytest.mark.parametrize(
    ("language", "name", "drop", "cell"),
    [
        ("cuda", "matmul_shared_tiles", "__syncthreads();", (0, 0, 0)),
        ("cuda", "matmul_double_buffer", "__syncthreads();", (0, 0, 0)),
        ("cuda", "row_sum_shuffles", "sum += __shfl_down_sync(0xffffffff, sum, o);", (0, 0, 0)),
        ("cuda", "matmul_persistent", "tile += gridDim.x", (2, 0, 1)),
        ("sycl", "matmul_local_tiles", "sycl::group_barrier(item.get_group());", (0, 0, 0)),
        ("triton", "matmul_pipelined_range", ", num_stages=3", (2, 3, 1)),
        ("cpp", "matmul_blocked_with_prefetch", "__builtin_prefetch(b + (p + B) * n);", (2, 0, 0)),
        ("cpp", "sum_reduction_clause", " reduction(+ : total)", (0, 0, 1)),
    ],
)
def test_without_what_proves_it_a_level_is_gone(language, name, drop, cell):
    source = _kernel(language, name)
    assert drop in source
    assert backends.describe(source.replace(drop, ""), language).cell == cell


def test_a_device_text_alone_is_described_as_the_candidate_around_it_is():
    kernel = _kernel("cuda", "matmul_shared_and_register_tiles")
    text = kernel.partition('r"""')[2].partition('"""')[0]
    assert backends.describe(text).cell == backends.describe(text, "cuda").cell == (3, 0, 1)


def test_a_candidate_in_two_languages_has_the_higher_level_of_each():
    both = _kernel("cpp", "softmax_three_passes").replace("class ModelNew", "class Other") + _kernel(
        "triton", "matmul_dot"
    )
    assert backends.describe(both.replace("class ModelNew", "lib.run(1)\n\n\nclass ModelNew")).cell == (2, 3, 1)


def test_text_that_an_f_string_or_a_template_completes_is_read():
    source = _kernel("cuda", "matmul_shared_tiles").replace('r"""', 'f"""').replace("16", "{TILE}")
    source = source.replace("lib = ", "TILE = 16\nlib = ")
    inside = source.partition('f"""')[2].partition('"""')[0]
    doubled = inside.replace("{TILE}", "\0").replace("{", "{{").replace("}", "}}").replace("\0", "{TILE}")
    assert backends.describe(source.replace(inside, doubled)).cell == (2, 0, 1)


def test_plain_python_has_nothing_to_describe():
    source = (
        "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
    )
    assert backends.describe(source).cell == (0, 0, 0)
    assert backends.describe(source, "python").evidence["memory"] == ["0: nothing above the plain form was found"]


def test_a_language_that_there_is_not_is_named():
    with pytest.raises(backends.UnknownBackendError, match="did you mean cuda"):
        backends.describe("", "cuba")


CORPUS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("candidate_file", "cell"),
    [
        ("gpu/honest/argmax_first_of_ties.py", (0, 0, 2)),
        ("gpu/honest/embedding_gather.py", (1, 0, 0)),
        ("gpu/honest/layernorm_welford.py", (0, 2, 2)),
        ("gpu/honest/matmul_split_k_triton.py", (2, 3, 3)),
        ("gpu/honest/matmul_tiled.py", (3, 0, 1)),
        ("gpu/honest/mse_cooperative.py", (0, 0, 3)),
        ("gpu/honest/rmsnorm_persistent_triton.py", (0, 1, 3)),
        ("honest/candidates/gru_step.py", (0, 1, 1)),
        ("honest/candidates/matmul_tiled.py", (2, 0, 1)),
        ("honest/candidates/row_sum_kahan.py", (0, 2, 1)),
        ("honest/candidates/row_sum_thread_pool.py", (0, 0, 3)),
        ("honest/extensions/relu_load_inline.py", (1, 0, 1)),
        ("honest/sycl/layernorm_two_pass.py", (0, 1, 2)),
    ],
)
def test_candidates_that_the_judge_accepts_stand_where_they_should(candidate_file, cell):
    assert backends.describe((CORPUS / candidate_file).read_text()).cell == cell


def test_every_candidate_of_the_corpus_can_be_read():
    files = [path for part in ("honest", "gpu/honest") for path in (CORPUS / part).glob("**/*.py")]
    files += (CORPUS / "gpu" / "exploits").glob("*.py")
    assert len(files) > 100
    for path in files:
        assert "could not be read" not in str(backends.describe(path.read_text()).evidence), path


HOSTILE = {
    "nothing": "",
    "zeros": "\0" * 100,
    "surrogates": "\ud800\udfff" * 50,
    "parentheses": "(" * 200_000,
    "braces": "__global__ void k() " + "{" * 100_000,
    "calls in calls": "__global__ void k(float* x) { " + "f(" * 50_000,
    "loops in loops": "__global__ void k(float* x) { " + "for (int i = 0; i < 3; i++) { " * 5_000 + "x[i] += x[i - 1];",
    "one long sum": "__global__ void k(float* x) { x[0] = " + " + ".join(["x[1]"] * 30_000) + "; }",
    "many statements": "__global__ void k(float* x, float s) { " + "s = s * x[3] + x[4]; " * 10_000 + "}",
    "many loops": "__global__ void k(float* x, float s) { "
    + "for (int i = 0; i < 9; i++) { s += x[i] * s; } " * 4_000
    + "}",
    "many functions": "".join(f"__device__ float f{i}(float x) {{ return f{i + 1}(x); }}\n" for i in range(3_000)),
    "macros that double": "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(40)) + "A0 " * 20_000,
    "macros that do not end": "#define F(x) F(x) G(\n#define G(x) F(\n" + "F( G( " * 20_000,
    "conditions without end": "#if 1\n#else\n#elif X\n" * 20_000,
    "an open comment": "__global__ void k() {} /* " + "* " * 90_000,
    "open strings": '"' * 99_999 + 'R"x(' * 9_999,
    "assembly": '__global__ void k() { asm volatile("' + "cp.async " * 20_000 + '"); }',
    "python without end": "@triton.jit\ndef f(x):\n" + "    if x:\n" * 5_000,
    "deep python": "x = " + "[" * 5_000,
    "noise": bytes(i * 7919 % 256 for i in range(200_000)).decode("latin-1"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("language", ["cuda", "triton"])
def test_no_text_breaks_it(name, language):
    assert len(backends.describe(HOSTILE[name], language).cell) == 3


@pytest.mark.parametrize("case", KERNELS[::7], ids=_named)
def test_a_text_that_breaks_off_is_described_as_far_as_it_goes(case):
    language, kernel = case
    for end in range(0, len(kernel.source), max(1, len(kernel.source) // 12)):
        assert len(backends.describe(kernel.source[:end], language).cell) == 3


@given(noise=st.text(max_size=200), place=st.integers(0, 10_000), index=st.integers(0, len(KERNELS) - 1))
@settings(max_examples=60, deadline=None)
def test_noise_in_the_middle_breaks_nothing(noise, place, index):
    language, kernel = KERNELS[index]
    source = kernel.source[:place] + noise + kernel.source[place:]
    cell = backends.describe(source, language).cell
    assert all(0 <= level <= 3 for level in cell)


@given(words=st.text("abcdefghijklmnopqrstuvwxyz_ .;(){}", max_size=80), index=st.integers(0, len(cuda.KERNELS) - 1))
@settings(max_examples=40, deadline=None)
def test_a_comment_changes_no_cell(words, index):
    kernel = cuda.KERNELS[index]
    source = kernel.source.replace("{\n", "{ // " + words + " __shfl_sync(cp.async)\n", 3)
    assert backends.describe(source, "cuda").cell == backends.describe(kernel.source, "cuda").cell


def test_who_describes_nothing_needs_no_parser():
    script = (
        "import sys, kernelwright.backends; print([m for m in sys.modules if 'tree_sitter' in m or '_candidate' in m])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_two_kernels_of_which_one_is_reached_by_a_helper_count_together():
    text = """
__device__ void add(float* y, float v) { atomicAdd(y, v); }
__global__ void kernel(const float* x, float* y) { add(y, x[threadIdx.x]); }
extern "C" void run(const float* x, float* y) { kernel<<<1, 32>>>(x, y); }
"""
    assert backends.describe(candidate("cuda", text, "lib.run(x, y)")).cell == (0, 0, 3)
