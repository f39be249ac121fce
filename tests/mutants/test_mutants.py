from collections import Counter

import pytest

from kernelwright.judge import Judge
from tests.corpus import HONEST, specimens
from tests.mutants import Mutant, chosen, differs, mutants, run
from tests.mutants._equivalent import EQUIVALENT
from tests.mutants._operators import NATIVE, PYTHON
from tests.mutants._text import blanked, native_parts, python_only

LOOP = "for (int64_t c = 0; c < cols; c++) total += x[r * cols + c];\n"
SEEDED = {
    "loop_ends_early": (LOOP, "c < cols - 1;"),
    "loop_skips_last_block": ("for (i = 0; i < n; i += TILE) f(i);\n", "i < n - TILE;"),
    "loop_runs_over": (LOOP, "c <= cols;"),
    "loop_starts_late": (LOOP, "c = 1;"),
    "loop_skips_diagonal": ("for (p = 0; p <= i; p++) f(p);\n", "p < i;"),
    "remainder_forgotten": ("for (; c < cols; c++) f(c);\n", "for (; c < 0; c++)"),
    "last_block_forgotten": ("n = (rows + block - 1) / block;\n", "n = rows / block;"),
    "border_test_off_by_one": ("if (row < 0 || row >= height) continue;\n", "row < 1 ||"),
    "accumulation_overwrites": (LOOP, "total = x[r * cols + c];"),
    "accumulation_dropped": (LOOP, "(void)0;"),
    "accumulation_subtracts": (LOOP, "total -= x[r * cols + c];"),
    "accumulator_coarse": ("float total;\n" + LOOP, "total = coarse(total + (x[r * cols + c]));"),
    "term_dropped": ("y = x + bias[c];\n", "y = x;"),
    "factor_dropped": ("y = x * weight[c];\n", "y = x;"),
    "difference_added": ("y = exp(x - top);\n", "exp(x + top)"),
    "constant_changed": ("y = 0.5f * x;\n", "0.55f"),
    "extremes_swapped": ("y = std::min(a, b);\n", "std::max(a, b)"),
    "comparison_turned": ("top = v > top ? v : top;\n", "v < top ?"),
    "index_swapped": (LOOP, "x[c * cols + r]"),
    "write_misplaced": ("y[r] = total;\n", "y[r + 1] = total;"),
    "accumulator_starts_wrong": ("float total = 0.0f;\n", "total = 1.0f;"),
    "accumulator_uninitialised": ("float total = 0.0f;\n", "float total;"),
    "accumulator_static": ("float total = 0.0f;\n", "static float total"),
    "extreme_starts_at_zero": ("float top = a[0];\n", "top = 0.0f;"),
    "second_call_idle": ('extern "C" void f(int n) {\n}\n', "if (calls++ > 0) return;"),
    "reduction_forgotten": ("#pragma omp parallel for reduction(+ : s)\n", "parallel for\n"),
    "atomic_forgotten": ("    #pragma omp atomic\n    y += 1;\n", "    y += 1;"),
    "scratch_shared": ("static thread_local int x;\n", "static int x;"),
    "threads_not_joined": ("thread.join();\n", "thread.detach();"),
    "outputs_swapped": ("        return a, b\n", "return b, a"),
    "output_repeated": ("        return a, b\n", "return a, a"),
    "sizes_swapped": ("lib.f(x.shape[0], x.shape[1])\n", "x.shape[1], x.shape[0]"),
    "result_kept": ("    def forward(self, x):\n        y = 1\n        return y\n", "self.kept = y"),
    "last_block_not_allocated": ("n = (rows + block - 1) // block\n", "n = rows // block"),
}


@pytest.fixture(scope="module")
def every() -> list[Mutant]:
    return list(mutants(specimens(HONEST)))


def test_every_operator_has_an_example() -> None:
    assert SEEDED.keys() == {**NATIVE, **PYTHON}.keys()


@pytest.mark.parametrize("name", SEEDED)
def test_operator_seeds_its_fault(name: str) -> None:
    text, expected = SEEDED[name]
    operator = {**NATIVE, **PYTHON}[name]
    code = text if name in PYTHON else blanked(text)
    changed = [edit.applied(text) for edit in operator(code)]
    assert any(expected in one for one in changed), changed
    assert text not in changed


@pytest.mark.parametrize("name", NATIVE)
def test_comments_strings_and_includes_are_left_alone(name: str) -> None:
    hidden = f"// {LOOP}/* float total = 0.0f; */\n#include <vector>\nf(\"y[r] = a - b + c * d\", '-');\n"
    assert list(NATIVE[name](blanked(hidden))) == []


def test_blanking_keeps_every_place() -> None:
    text = 'a; // b\n"c" + d; /* e\n */ f\n'
    assert len(blanked(text)) == len(text)
    assert blanked(text).split() == ["a;", "+", "d;", "f"]


def test_kernels_show_their_native_text() -> None:
    source = next(specimen.source for specimen in specimens(HONEST) if specimen.name == "mean_std_two_libraries")
    parts = list(native_parts(source))
    assert len(parts) == 2
    assert all(source[place : place + len(text)] == text for place, text in parts)
    assert "extern" not in python_only(source)


def test_mutants_are_many_distinct_and_in_a_fixed_order(every: list[Mutant]) -> None:
    texts = [mutant.source for mutant in every]
    assert len(texts) == len(set(texts)) >= 320
    assert len({mutant.kernel for mutant in every}) >= 20
    assert texts == [mutant.source for mutant in mutants(specimens(HONEST))]


def test_no_operator_is_idle(every: list[Mutant]) -> None:
    met = Counter(mutant.operator for mutant in every)
    assert {**NATIVE, **PYTHON}.keys() == met.keys()


def test_a_mutant_shows_its_line_and_its_diff(every: list[Mutant]) -> None:
    mutant = next(mutant for mutant in every if (mutant.kernel, mutant.operator) == ("eight_elements", "term_dropped"))
    removed, added = mutant.diff.splitlines()
    assert removed.startswith("-")
    assert added == "+" + mutant.source.splitlines()[mutant.line - 1]


def test_equivalent_mutants_are_named_as_they_are_generated() -> None:
    """An entry that matches nothing any more is out of date."""
    kernels = {kernel for kernel, *_ in EQUIVALENT}
    mine = [specimen for specimen in specimens(HONEST) if specimen.name in kernels]
    assert {mutant.identity for mutant in mutants(mine, equivalent=True)} >= EQUIVALENT.keys()
    assert not {mutant.identity for mutant in mutants(mine)} & EQUIVALENT.keys()


@pytest.mark.slow
def test_what_compiles_to_the_same_code_is_no_mutant(every: list[Mutant]) -> None:
    mutant = next(mutant for mutant in every if mutant.kernel == "eight_elements")
    longer = mutant.specimen.source.replace("int64_t i = 0", "int64_t i = 0 + 0")
    assert differs(mutant)
    assert not differs(Mutant(mutant.specimen, "none", 1, longer))


@pytest.mark.slow
def test_a_sample_of_mutants_is_killed(judge: Judge) -> None:
    names = ("row_sum_pairwise", "matmul_tiled", "cumsum_integers", "layernorm_two_pass")
    kernels = [specimen for specimen in specimens(HONEST) if specimen.name in names]
    report = run(judge, of=chosen(kernels, each=3))
    assert report.total == 12
    assert report.survivors == []
