"""A profile on a device: facts put together from what was recorded on an H200, and the whole way on host memory."""

import importlib.util
import io
import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from rich.console import Console

from kernelwright import native
from kernelwright.backends import read_sass
from kernelwright.cli._profile_screen import render
from kernelwright.judge import Judge, Limits, Profile, profile
from kernelwright.judge._channel import Garbage
from kernelwright.judge._status import InfraError
from kernelwright.judge.device import _listing, _nsight, _programs
from kernelwright.judge.device import _profile as device_profile
from kernelwright.judge.device._bottleneck import diagnose
from kernelwright.judge.device._listing import ENDINGS, Compiled, Lister, taken_apart
from kernelwright.judge.device._profile import (
    code_of,
    covered,
    grouped,
    kernel_facts,
    library_share,
    matrix_rate,
    rules_view,
    well_formed,
)
from kernelwright.judge.worker import _abilities, _launches
from kernelwright.judge.worker._device import Host
from kernelwright.tasks import load_task
from tests.judge.test_occupancy import H200
from tests.judge.texts import RELU, TASKS

LISTINGS = Path(__file__).parents[1] / "backends" / "recorded"
RECORDED = Path(__file__).parent / "recorded"
# As torch's profiler traced a Triton product on an H200, with a copy beside it.
TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "ts": 1.0, "dur": 2.0},
        {
            **{"ph": "X", "cat": "kernel", "name": "multiply", "ts": 3936382079294.129, "dur": 52.48},
            "args": {
                "grid": [256, 1, 1],
                "block": [256, 1, 1],
                "registers per thread": 112,
                "shared memory": 98304,
                "est. achieved occupancy %": 12,
            },
        },
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "ts": 3936382079200.0, "dur": 10.0, "args": {}},
        {"ph": "i", "cat": "kernel", "name": "no duration", "ts": 0},
    ]
}
DEVICE = {
    "name": "NVIDIA H200",
    "bytes_per_second": 4.07e12,
    "rates": {"fp32": 5.06e13, "tf32": 3.96e14, "bf16": 7.76e14, "fp16": 7.46e14, "fp64": 6.03e13},
    "limits": H200 | {"cache_bytes": 62914560},
}


@pytest.fixture
def launches():
    return [well_formed(launch) for launch in _launches.launches(TRACE)]


@pytest.fixture
def triton():
    return read_sass((LISTINGS / "triton.sass").read_text())


# *** launches ***


def test_launches_come_in_order_with_what_they_take(launches):
    assert [launch["name"] for launch in launches] == ["Memcpy DtoD", "multiply"]
    assert launches[1]["grid"] == [256, 1, 1]
    assert (launches[1]["registers"], launches[1]["shared_bytes"]) == (112, 98304)
    assert launches[1]["seconds"] == pytest.approx(52.48e-6)
    assert not launches[0]["kernel"]


@pytest.mark.parametrize(
    "change",
    [{"seconds": -1.0}, {"seconds": float("nan")}, {"grid": [1 << 60]}, {"registers": -1}, {"start_us": float("inf")}],
)
def test_a_launch_that_cannot_have_been_is_nonsense(change):
    launch = _launches.launches(TRACE)[1] | change
    with pytest.raises((Garbage, ValueError, OverflowError)):
        well_formed(launch)


def test_overlapping_launches_count_once():
    spans = [(0.0, 2.0), (1.0, 2.0), (5.0, 1.0)]
    assert covered({"start": start, "seconds": seconds} for start, seconds in spans) == 4.0
    assert covered([]) == 0.0


def test_kernels_of_libraries_and_copies_are_not_its_own(launches):
    theirs = launches[1] | {"name": "void at::native::elementwise_kernel<128>(int)", "seconds": 52.48e-6}
    assert [group[0]["name"] for group in grouped([*launches, theirs])] == ["multiply"]
    assert library_share([launches[1], theirs]) == 0.5
    assert library_share([]) == 0.0


def test_launches_of_one_shape_are_one_kernel_and_of_another_another(launches):
    kernel = launches[1]
    groups = grouped([kernel, kernel, kernel | {"grid": [1, 1, 1]}])
    assert [len(group) for group in groups] == [2, 1]


# *** code ***


def test_code_is_found_by_name_and_among_several_by_registers(triton, launches):
    cuda = read_sass((LISTINGS / "cuda.sass").read_text())
    assert code_of(launches[1], [*cuda, *triton]).name == "multiply"
    assert code_of({"name": "void templated<4>(float*)", "registers": 10}, cuda).shared_bytes == 5120
    assert code_of({"name": "inner::named(float*)", "registers": 99}, cuda).registers == 8
    assert code_of({"name": "another", "registers": 1}, cuda) is None


def test_a_kernels_facts_join_its_launch_and_its_code(triton, launches):
    facts = kernel_facts([launches[1]], triton, H200, launches)
    assert facts["occupancy"] == {
        "blocks_per_processor": 2,
        "share": 0.25,
        "limited_by": "registers",
        "waves": pytest.approx(256 / 264, abs=1e-3),
    }
    assert facts["share"] == pytest.approx(52.48 / 62.48, abs=1e-4)
    assert facts["code"]["hot"]["tensor"] == 4


@pytest.mark.parametrize(
    ("dtype", "precision", "rate"),
    [
        ("float32", "strict", "fp32"),
        ("float32", "tf32", "tf32"),
        ("float32", "bf16", "bf16"),
        ("bfloat16", "strict", "bf16"),
        ("float16", "strict", "fp16"),
        ("float64", "strict", "fp64"),
        ("int64", "strict", "fp32"),
    ],
)
def test_products_are_held_to_the_units_that_the_task_allows(dtype, precision, rate):
    assert matrix_rate(dtype, precision) == rate


def test_what_triton_kept_is_taken_out_of_a_row_of_bytes(tmp_path):
    cache = tmp_path / "cache" / "AB"
    cache.mkdir(parents=True)
    for name, content in (("k.cubin", b"one"), ("k.ptx", b"three"), ("k.json", b"{}")):
        (cache / name).write_bytes(content)
    files, fd = _launches.compiled(tmp_path, ENDINGS)
    try:
        assert taken_apart(files, fd) == [Compiled("k", ".cubin", b"one"), Compiled("k", ".ptx", b"three")]
    finally:
        os.close(fd)
    assert _launches.compiled(tmp_path / "nowhere", ENDINGS)[0] == []


class Listing:
    """A builder that lists what it is given."""

    def __init__(self, text):
        self.text, self.asked = text, []

    def list_code(self, library, command):
        self.asked.append((library.read_bytes(), command))
        if library.read_bytes() == b"for the processor":
            raise InfraError("cuobjdump failed: no device code")
        return self.text


def test_with_a_disassembler_libraries_and_cubins_are_listed(monkeypatch, tmp_path):
    library = tmp_path / "kernel.so"
    library.write_bytes(b"library")
    monkeypatch.setattr(_listing, "disassembler", lambda: "/bin/cuobjdump")
    builder = Listing((LISTINGS / "triton.sass").read_text())
    kept = [Compiled("k", ".cubin", b"cubin"), Compiled("k", ".ptx", b"ptx")]
    tool, codes = Lister(builder, [library], [], kept).code()
    assert tool == "cuobjdump"
    assert [code.name for code in codes] == ["multiply", "multiply"]
    assert [content for content, _ in builder.asked] == [b"library", b"cubin"]
    assert builder.asked[0][1] == ("/bin/cuobjdump", "-sass", "-res-usage")


def test_a_library_for_the_processor_beside_it_does_no_harm(monkeypatch, tmp_path):
    monkeypatch.setattr(_listing, "disassembler", lambda: "/bin/cuobjdump")
    host, device = tmp_path / "host.so", tmp_path / "device.so"
    host.write_bytes(b"for the processor")
    device.write_bytes(b"for the device")
    builder = Listing((LISTINGS / "triton.sass").read_text())
    assert len(Lister(builder, [host, device], [], []).code()[1]) == 1
    with pytest.raises(InfraError, match="no device code"):
        Lister(builder, [host], [], []).code()


def test_without_one_the_ptx_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr(_listing, "disassembler", lambda: None)
    text = (LISTINGS / "cuda.ptx").read_text()
    monkeypatch.setattr(_listing.native, "nvcc", lambda: native.Toolchain(Path("/bin/nvcc"), "nvcc"))
    builder = Listing(text)
    source = {"language": "cuda", "text": "__global__ ...", "flags": ["-arch=sm_80"]}
    tool, codes = Lister(builder, [tmp_path], [source], [Compiled("k", ".ptx", text.encode())]).code()
    assert tool == "PTX"
    assert [code.name for code in codes] == ["scale4", "copied", "scale"] * 2
    ((content, command),) = builder.asked
    assert content == b"__global__ ..."
    assert "/bin/nvcc" in command
    assert [word for word in command if word.startswith("-arch")] == ["-arch=sm_80"]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc, the CUDA compiler, is not installed")
def test_the_compiler_itself_gives_the_ptx(small_judge, monkeypatch):
    monkeypatch.setattr(_listing, "disassembler", lambda: None)
    text = 'struct Two { float x, y; };\nextern "C" __global__ void k(float* x) { x[threadIdx.x] = expf(x[0]); }'
    source = {"language": "cuda", "text": text, "flags": ["-use_fast_math"]}
    tool, (code,) = Lister(small_judge.builder, [Path("unused")], [source], []).code()
    assert (tool, code.name) == ("PTX", "k")
    assert (code.counts["global_loads"], code.counts["global_stores"], code.counts["special"]) == (1, 1, 1)


def test_the_disassembler_is_the_toolkits_or_tritons(monkeypatch, tmp_path):
    folder = tmp_path / "backends" / "nvidia" / "bin"
    folder.mkdir(parents=True)
    (folder / "cuobjdump").touch(mode=0o755)
    (tmp_path / "__init__.py").touch()
    spec = importlib.util.spec_from_file_location("triton", tmp_path / "__init__.py")
    monkeypatch.setattr(_listing.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(_listing, "installed", lambda name: None)
    assert _listing.disassembler() == str(folder / "cuobjdump")
    monkeypatch.setattr(_listing, "installed", lambda name: f"/toolkit/{name}")
    assert _listing.disassembler() == "/toolkit/cuobjdump"
    monkeypatch.setattr(_listing, "installed", lambda name: None)
    monkeypatch.setattr(_listing.importlib.util, "find_spec", lambda name: None)
    assert _listing.disassembler() is None


def test_a_program_is_found_on_the_path_or_beside_the_compiler(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ncu").touch(mode=0o755)
    monkeypatch.setattr(_programs.native, "toolkit_folder", lambda: tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert _programs.installed("ncu") == str(tmp_path / "bin" / "ncu")
    assert _programs.installed("other") is None
    monkeypatch.setattr(_programs.native, "toolkit_folder", lambda: None)
    assert _programs.installed("ncu") is None
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert _programs.installed("ncu") == str(tmp_path / "bin" / "ncu")


def test_where_nothing_was_compiled_there_is_nothing_to_list():
    with pytest.raises(InfraError, match="no kernel of its own"):
        Lister(Listing(""), [], [], []).code()


# *** the whole ***


def facts(**changes):
    kernel = kernel_facts(
        [well_formed(_launches.launches(TRACE)[1])],
        read_sass((LISTINGS / "triton.sass").read_text()),
        DEVICE["limits"],
        [well_formed(launch) for launch in _launches.launches(TRACE)],
    )
    case = {
        "case": "given",
        "weight": 1.0,
        "time_ms": 0.06,
        "eager_ms": 0.055,
        "dtype": "bfloat16",
        "bytes": {"read": 33.5e6, "written": 8.4e6},
        "operations": {"matrix": 34359738368, "elementwise": 0, "special": 0, "by_operator": {"mm": 34359738368}},
        "matrix_rate": "bf16",
        "roof": {
            "bound": "compute",
            "memory_ms": 0.0103,
            "compute_ms": 0.0443,
            "share": 0.738,
            "operations_avoided": False,
        },
        "bytes_per_second": 7e11,
        "operations_per_second": 5.7e14,
        "launches": 1,
        "busy_ms": 0.0525,
        "busy_share": 0.875,
        "library_share": 0.0,
    }
    counters = _nsight.by_kernel(_nsight.read((RECORDED / "ncu.csv").read_text()))
    whole = {
        "cases": [case],
        "case": "given",
        "device": DEVICE,
        "kernels": [kernel],
        "code": {"tool": "cuobjdump", "kernels": 1},
        "counters": {"multiply": counters["relu_by_neighbour"]},
    }
    return whole | changes


def test_the_rules_see_what_was_found():
    seen = rules_view(facts())
    assert (seen.kernel, seen.blocks, seen.threads, seen.occupancy) == ("multiply", 256, 256, 0.25)
    assert (seen.tensor, seen.async_copies, seen.wide_share) == (True, True, None)
    assert seen.tensor_gain == pytest.approx(7.76e14 / 5.06e13)
    assert seen.stalls["long_scoreboard"] == 19.75
    assert seen.moved_ratio == pytest.approx(259072 / 41.9e6)
    assert diagnose(seen)[0].name == "compute-near-roof"


def test_what_is_not_known_is_left_open():
    seen = rules_view(facts(kernels=[], counters={"absent": "ncu is not installed"}))
    assert seen.tensor is seen.occupancy is seen.sector_use is seen.moved_ratio is None
    assert seen.processors == 132


def shown(found, judge_verdict):
    console = Console(width=160, record=True, file=io.StringIO())
    findings = diagnose(rules_view(found))
    render(console, Profile(judge_verdict, "triton", found, findings, device="cuda"), "matmul", "k.py")
    return console.export_text()


@pytest.fixture(scope="module")
def host_profile():
    with Judge(device="host", limits=Limits(call_s=10, load_s=20, total_s=120)) as judge:
        found = profile(judge, load_task(TASKS / "relu.py"), RELU)
    assert isinstance(found, Profile), found.message
    return found


def test_the_screen_shows_kernels_and_what_they_are_made_of(host_profile):
    text = shown(facts(), host_profile.verdict)
    for words in (
        "on NVIDIA H200",
        "compute bound, 74% of the roof",
        "of 776 T/s in bf16 products",
        "1 launch, at work on the device for 88% of a call",
        "from cuobjdump, counted in its loops",
        "25% (registers)",
        "98.3 kB",
        "most warps wait for long scoreboard",
        "Bottleneck: Compute bound, near the roof",
    ):
        assert words in text
    assert len(text.splitlines()) < 40


def test_the_screen_says_what_could_not_be_had(host_profile):
    text = shown(facts(kernels=[], code={"absent": "no tool"}, counters={"absent": "no ncu"}), host_profile.verdict)
    assert "nothing known of its instructions: no tool" in text
    assert "ncu       no ncu" in text


def test_on_host_memory_the_whole_way_is_walked(host_profile):
    told = json.loads(json.dumps(host_profile.to_json(), allow_nan=False))
    assert told["device"] == "host"
    assert set(told["facts"]) == {"cases", "case", "device", "kernels", "code", "counters"}
    (case,) = told["facts"]["cases"]
    assert set(case) == set(facts()["cases"][0])
    assert case["bytes"]["written"] == 300 * 401 * 4
    assert case["busy_share"] is None
    assert told["facts"]["kernels"] == []
    assert told["facts"]["code"] == {"absent": "the candidate has compiled no kernel of its own"}
    assert told["facts"]["counters"] == {"absent": "host memory has no counters"}
    assert diagnose(rules_view(told["facts"]))[0].to_json() == told["bottleneck"]


def test_a_devices_abilities_are_measured_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    asked = []

    def measure():
        asked.append(1)
        return DEVICE

    for _ in range(2):
        assert device_profile._ceilings.load_device("NVIDIA H200", measure) == DEVICE
    assert asked == [1]


def test_rates_are_measured_in_the_precision_asked_for():
    before = torch.backends.cuda.matmul.allow_tf32
    seen = []

    class Watched(Host):
        def synchronize(self):
            seen.append(torch.backends.cuda.matmul.allow_tf32)

    rate = _abilities._multiplying(Watched(), torch.float32, 64, tf32=True)
    assert rate > 0
    assert seen == [True] * _abilities.REPEATS
    assert torch.backends.cuda.matmul.allow_tf32 is before
