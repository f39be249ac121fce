"""What compiled loops are made of, read from what objdump prints about them."""

import platform
import shutil
import subprocess

import pytest

from kernelwright import native
from kernelwright.backends import get
from kernelwright.backends._disassembly import Instruction, facts, functions, loops, mix

pytestmark = pytest.mark.skipif(
    shutil.which("objdump") is None or platform.machine() != "x86_64", reason="needs objdump on x86-64"
)
HEAD = "#include <cmath>\n#include <cstdint>\n"
SCALE = 'extern "C" void run(const float* __restrict x, float* __restrict y, int64_t n) { LOOP }'
AXPY = SCALE.replace("LOOP", "for (int64_t i = 0; i < n; i++) y[i] = y[i] + x[i] * 1.5f;")
QUOTIENT = SCALE.replace("LOOP", "for (int64_t i = 0; i < n; i++) y[i] = x[i] / y[i];")
ROOT = SCALE.replace("LOOP", "for (int64_t i = 0; i < n; i++) y[i] = std::sqrt(x[i]);")
POWER = SCALE.replace("LOOP", "for (int64_t i = 0; i < n; i++) y[i] = std::pow(x[i], 1.7f);")
NEST = SCALE.replace(
    "LOOP",
    "for (int64_t r = 0; r < n; r++) { float s = 0; "
    'for (int64_t c = 0; c < n; c++) { s += x[r * n + c]; asm volatile("" : "+x"(s)); } y[r] = s / x[r]; }',
)
LOOK_UP = """
extern "C" void run(const float* __restrict x, const int* __restrict at, float* __restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = x[at[i]];
}
"""
PLAIN = "-march=x86-64"
AVX = "-march=haswell"


@pytest.fixture(scope="session")
def listed(tmp_path_factory):
    """The listing of a text, compiled with the project's own flags and these."""
    folder = tmp_path_factory.mktemp("listings")

    def compile_and_list(text, *flags):
        library = folder / "kernel.so"
        native.compile_source(native.Source("cpp", HEAD + text, flags), library)
        command = [*get("cpp").listing.command, library]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return compile_and_list


@pytest.fixture(scope="session")
def hot(listed):
    def of(text, *flags):
        return facts([(listed(text, *flags), {})])["hot"]

    return of


def test_a_loop_that_may_not_be_vectorised_is_scalar(hot):
    assert hot(AXPY, "-fno-tree-vectorize", AVX)["arithmetic"]["scalar"] == 1.0


@pytest.mark.parametrize(
    ("flags", "width"),
    [((PLAIN,), "xmm"), ((AVX,), "ymm"), (("-march=skylake-avx512", "-mprefer-vector-width=512"), "zmm")],
)
def test_the_width_of_vectors_is_seen(hot, flags, width):
    found = hot(AXPY, *flags)["arithmetic"]
    packed = {name: share for name, share in found.items() if name != "scalar" and share}
    assert max(packed, key=packed.get) == width


def test_this_machines_own_vectors_are_seen(hot):
    assert hot(AXPY)["arithmetic"]["scalar"] < 1.0


def test_multiplication_and_addition_are_fused_unless_forbidden(hot):
    assert hot(AXPY, AVX)["fused_share"] == 1.0
    assert hot(AXPY, AVX, "-ffp-contract=off")["fused_share"] == 0.0


def test_divisions_and_roots_are_counted_and_weigh_more(hot):
    assert hot(QUOTIENT, AVX)["divisions"] >= 1
    assert hot(QUOTIENT, AVX)["division_share"] > 0.5
    assert hot(ROOT, AVX)["roots"] >= 1
    assert hot(AXPY, AVX)["division_share"] == 0.0


def test_calls_in_loops_are_named(hot):
    assert hot(POWER, PLAIN)["calls"] == ["powf"]
    assert hot(AXPY, PLAIN)["calls"] == []


def test_gathers_are_counted(hot):
    assert hot(LOOK_UP, "-march=skylake-avx512", "-mprefer-vector-width=512")["gathers"] >= 1
    assert hot(LOOK_UP, PLAIN)["gathers"] == 0


def test_values_that_find_no_register_are_spills(hot):
    """Sixty sums at once in a machine of sixteen registers."""
    names = [f"s{number}" for number in range(60)]
    sums = "".join(f"float {name} = 0; " for name in names)
    step = "".join(f"{name} += x[i + {number}]; " for number, name in enumerate(names))
    out = "".join(f"y[{number}] = {name}; " for number, name in enumerate(names))
    body = f"{sums} for (int64_t i = 0; i < n; i++) {{ {step} }} {out}"
    assert hot(SCALE.replace("LOOP", body), PLAIN, "-fno-tree-vectorize", "-fno-tree-slp-vectorize")["spills"] >= 60
    assert hot(AXPY, PLAIN)["spills"] == 0


def test_without_samples_every_loop_counts_alike(listed):
    assert facts([(listed(AXPY), {})])["weighted_by"].startswith("nothing")


def test_nested_loops_are_told_apart(listed):
    (function,) = functions(listed(NEST, PLAIN))
    found = {loop.depth: loop for loop in loops(function)}
    assert found.keys() == {1, 2}
    assert found[2].mix.divisions == 0
    assert found[1].mix.divisions == 1


def test_samples_say_which_loop_is_hot(listed):
    listing = listed(NEST, PLAIN)
    (function,) = functions(listing)
    inner, outer = sorted(loops(function), key=lambda loop: -loop.depth)
    addresses = {loop.depth: loop.start for loop in (inner, outer)}
    in_outer = facts([(listing, {addresses[1]: 3})])
    in_inner = facts([(listing, {addresses[2]: 5})])
    assert in_inner["weighted_by"] == "samples"
    assert in_inner["hot"]["divisions"] == 0
    assert in_outer["hot"]["divisions"] == 1
    assert in_inner["loops"][0]["share"] == in_inner["functions"][0]["share"] == 1.0


def test_a_loop_entered_in_its_middle_is_a_loop(listed):
    (function,) = functions(listed(AXPY, PLAIN, "-Os", "-fno-tree-vectorize", "-fno-tree-ch"))
    assert len(loops(function)) == 1


def test_straight_code_has_no_loop(listed):
    (function,) = functions(listed(SCALE.replace("LOOP", "*y = *x * n;")))
    assert loops(function) == []
    assert facts([(listed(SCALE.replace("LOOP", "*y = *x * n;")), {})])["hot"]["arithmetic"] is None


def test_the_way_out_of_an_exception_is_no_loop():
    lines = ["1000 <run>:", "    1000:\tmov    %rbx,%rdi", "    1003:\tcall   900 <_Unwind_Resume@plt>"]
    lines += ["    1008:\tmov    (%rdi),%rax", "    100b:\tjmp    1000 <run>"]
    (function,) = functions("\n".join(lines))
    assert loops(function) == []


def test_what_the_linker_adds_is_left_out(listed):
    assert [function.name for function in functions(listed(AXPY))] == ["run"]


def test_two_libraries_are_told_of_together(listed):
    told = facts([(listed(AXPY), {}), (listed(QUOTIENT.replace("run", "other")), {})])
    assert {function["name"] for function in told["functions"]} == {"run", "other"}


def test_a_copy_has_moves_and_no_arithmetic(hot):
    found = hot(SCALE.replace("LOOP", "for (int64_t i = 0; i < n; i++) y[i * 2] = x[i * 3];"), "-fno-tree-vectorize")
    assert found["arithmetic"] is None
    assert found["moves"]["scalar"] == 1.0


@pytest.mark.parametrize("text", ["", "kernel.so:     file format elf64-x86-64\n", "no listing at all\n\x00"])
def test_a_listing_of_nothing_has_no_functions(text):
    assert facts([(text, {})])["functions"] == []


# Single instructions, as objdump spells them.

SPELLED = [
    ("vaddps", "(%rcx),%zmm2,%zmm2", "zmm"),
    ("vfnmadd231sd", "%xmm1,%xmm2,%xmm3", "scalar"),
    ("mulpd", "%xmm1,%xmm2", "xmm"),
    ("vcmplt_oqps", "%ymm1,%ymm2,%k1", "ymm"),
    ("vucomiss", "%xmm1,%xmm2", "scalar"),
    ("vpaddd", "%ymm1,%ymm2,%ymm3", "ymm"),
    ("vrndscaleps", "$0x9,%zmm1,%zmm2", "zmm"),
]


@pytest.mark.parametrize(("name", "operands", "width"), SPELLED)
def test_arithmetic_is_known_by_its_name(name, operands, width):
    found = mix([Instruction(0, name, operands)]).arithmetic
    assert {key for key, number in found.items() if number} == {width}


@pytest.mark.parametrize("name", ["vmovups", "vxorps", "vshufps", "add", "vzeroupper", "vbroadcastss", "vcvtps2pd"])
def test_what_moves_and_shuffles_is_no_arithmetic(name):
    assert not any(mix([Instruction(0, name, "%ymm1,%ymm2")]).arithmetic.values())


def test_rbp_is_the_stack_only_where_it_marks_a_frame():
    load = Instruction(0, "vmovaps", "-0x40(%rbp),%ymm1")
    assert mix([load], framed=True).spills == 1
    assert mix([load], framed=False).spills == 0


def test_an_array_on_the_stack_is_no_spill():
    assert mix([Instruction(0, "vmovaps", "0x40(%rsp,%rax,4),%ymm1")]).spills == 0
