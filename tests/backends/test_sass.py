"""Compiled kernels, read from recorded listings (nvcc 13.0 and Triton 3.6 for sm_90, shortened)."""

from pathlib import Path

import pytest

from kernelwright.backends import plain_name, read_ptx, read_sass
from kernelwright.backends._sass import KINDS

RECORDED = Path(__file__).parent / "recorded"


def counted(code):
    return {kind: number for kind, number in code.items() if number}


@pytest.fixture(scope="module")
def cuda():
    return {code.name: code for code in read_sass((RECORDED / "cuda.sass").read_text())}


@pytest.fixture(scope="module")
def ptx():
    return {code.name: code for code in read_ptx((RECORDED / "cuda.ptx").read_text())}


def test_every_kernel_has_its_resources(cuda):
    assert {name: (code.registers, code.stack_bytes, code.shared_bytes) for name, code in cuda.items()} == {
        "_ZN5inner5namedEPf": (8, 0, 0),
        "_Z9templatedILi4EEvPf": (10, 0, 5120),
        "copied": (14, 0, 5120),
        "scale4": (18, 0, 0),
        "spilling": (32, 776, 0),
    }


def test_wide_loads_are_told_from_all_loads_and_loops_from_the_rest(cuda):
    code = cuda["scale4"]
    assert code.loops == 1
    assert code.counts["instructions"] > code.hot["instructions"] == 10
    wide = {"global_loads": 1, "loads_128": 1, "global_stores": 1, "stores_128": 1, "wide": 2}
    assert counted(code.hot) == {"instructions": 10, "fma": 1, "float": 2} | wide
    assert cuda["_Z9templatedILi4EEvPf"].counts["loads_128"] == 0


def test_the_branch_that_fills_the_end_is_no_loop(cuda):
    assert cuda["copied"].loops == 0
    assert cuda["copied"].hot == cuda["copied"].counts


def test_asynchronous_copies_barriers_and_spills_are_seen(cuda):
    assert cuda["copied"].counts["async_copies"] == 1
    assert cuda["copied"].counts["barriers"] == 1
    assert cuda["spilling"].hot["spills"] > 0.3 * cuda["spilling"].hot["instructions"]


def test_a_constant_in_the_clothes_of_a_multiply_add_is_none(cuda):
    assert "HFMA2.MMA R5, -RZ, RZ" in (RECORDED / "cuda.sass").read_text()
    assert counted(cuda["_ZN5inner5namedEPf"].counts) == {"instructions": 7, "global_stores": 1}


def test_a_triton_product_uses_tensor_cores_and_copies_ahead():
    (code,) = read_sass((RECORDED / "triton.sass").read_text())
    assert (code.name, code.registers, code.loops) == ("multiply", 112, 1)
    assert counted(code.hot) == {"instructions": 114, "tensor": 4, "async_copies": 8, "shared": 3, "barriers": 2}


def test_ptx_says_the_same_before_registers_are_given_out(ptx, cuda):
    assert ptx["scale4"].registers is None
    assert ptx["scale4"].loops == 1
    for kind in ("fma", "float", "loads_128", "stores_128"):
        assert ptx["scale4"].hot[kind] == cuda["scale4"].hot[kind]
    assert ptx["scale"].counts["special"] == 1
    assert ptx["scale"].counts["loads_128"] == 0
    assert ptx["copied"].counts["async_copies"] == 1


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("HMMA.16816.F32.BF16 R4, R8, R10, R4", "tensor"),
        ("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24", "tensor"),
        ("QGMMA.64x64x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24", "tensor"),
        ("@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64]", "loads_128"),
        ("UTMALDG.2D [UR8], [UR4]", "async_copies"),
        ("LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64]", "async_copies"),
        ("MUFU.EX2 R4, R5", "special"),
        ("STL.64 [R1+0x8], R4", "spills"),
        ("RED.E.ADD.F32.FTZ.RN desc[UR4][R2.64], R5", "atomics"),
        ("LDG.E.64 R4, desc[UR4][R2.64]", "wide"),
        ("SHFL.BFLY PT, R4, R5, 0x10, 0x1f", "shuffles"),
        ("REDUX.SUM.S32 UR4, R5", "shuffles"),
    ],
)
def test_instructions_are_known_by_their_names(line, kind):
    (code,) = read_sass(f"\t\tFunction : k\n        /*0010*/                   {line} ;\n")
    assert code.counts[kind] == 1
    assert set(counted(code.counts)) <= {"instructions", kind, "global_loads", "wide"}


def test_a_wide_asynchronous_copy_is_no_load_into_registers():
    (code,) = read_sass("\t\tFunction : k\n  /*0010*/   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64] ;\n")
    assert code.counts["global_loads"] == 0


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f1}", "tensor"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}", "tensor"),
        ("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]", "loads_128"),
        ("cp.async.cg.shared.global [%r1], [%rd1], 0x10", "async_copies"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global [%r1], [%rd1]", "async_copies"),
        ("ex2.approx.f32 %f1, %f2", "special"),
        ("bar.sync 0", "barriers"),
        ("st.local.u32 [%rd1], %r1", "spills"),
        ("atom.global.add.f32 %f1, [%rd1], %f2", "atomics"),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd1]", "wide"),
        ("st.global.b64 [%rd1], %rd2", "wide"),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1", "shuffles"),
        ("redux.sync.add.s32 %r1, %r2, -1", "shuffles"),
    ],
)
def test_ptx_instructions_are_known_by_their_names(opcode, kind):
    (code,) = read_ptx(f".visible .entry k()\n{{\n\t@%p1 {opcode};\n}}\n")
    assert code.counts[kind] == 1
    assert code.counts["instructions"] == 1


def test_waiting_for_a_copy_is_no_copy():
    (code,) = read_ptx(".visible .entry k()\n{\n\tcp.async.wait_group 0;\n\tcp.async.commit_group;\n}\n")
    assert code.counts["async_copies"] == 0


@pytest.mark.parametrize("text", ["", "nonsense", "\t\tFunction : \n", "  /*0000*/  NOP;", ".entry"])
def test_what_lists_no_kernel_has_none(text):
    assert read_sass(text) == []
    assert read_ptx(text) == []


def test_overlapping_loops_count_an_instruction_once():
    steps = "".join(f"  /*{16 * n:04x}*/  FADD R1, R1, R2 ;\n" for n in range(4))
    loops = "  /*0040*/  @P0 BRA 0x10 ;\n  /*0050*/  @P1 BRA 0x0 ;\n  /*0060*/  EXIT ;\n"
    (code,) = read_sass(f"\t\tFunction : k\n{steps}{loops}")
    assert code.loops == 2
    assert code.hot["float"] == 4
    assert set(code.hot) == set(KINDS)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("by_fours(float4 const*, float4*, long)", "by_fours"),
        ("void scale<float, 4>(float const*)", "scale"),
        ("void at::native::(anonymous namespace)::fill<int>(int*)", "fill"),
        ("multiply", "multiply"),
        ("_ZN5inner5namedEPf", "named"),
        ("_Z9templatedILi4EEvPf", "templated"),
        ("_Z", "_Z"),
    ],
)
def test_a_kernel_is_known_again_by_its_own_name(told, name):
    assert plain_name(told) == name
