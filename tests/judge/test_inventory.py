"""What the judge counts in the code of those it accepts: there after a judgement, and never in its way."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright import backends
from kernelwright.backends.cpp import Cpp
from kernelwright.judge import Judge, Status
from kernelwright.judge._inventory import LARGEST, Inventory, together
from kernelwright.judge._status import InfraError
from kernelwright.judge.device import _listing
from kernelwright.judge.worker import _launches
from tests.judge.texts import RELU, relu

RECORDED = Path(__file__).parents[1] / "backends" / "recorded"
listed_here = pytest.mark.skipif(
    shutil.which("objdump") is None or platform.machine() != "x86_64", reason="needs objdump on x86-64"
)
FRESH = "y[i] = x[i] > 0 ? x[i] : 0; // {}"


@listed_here
def test_an_accepted_kernel_comes_with_what_it_was_compiled_to(small_judge, relu_task):
    verdict = small_judge.judge(relu_task, RELU)
    assert verdict.status is Status.CORRECT
    assert verdict.stage == "physics"
    counts = verdict.evidence["code"]["cpp"]
    assert all(type(number) is int for number in counts.values())
    assert counts["instructions"] > 0
    assert counts["threading"] == 0
    assert "code" in small_judge.judge(relu_task, RELU, timed=False).evidence


@listed_here
def test_a_rejected_one_is_not_looked_into(small_judge, relu_task):
    verdict = small_judge.judge(relu_task, relu("y[i] = x[i];"))
    assert not verdict.accepted
    assert "code" not in verdict.evidence


@listed_here
def test_words_that_came_to_nothing_are_not_credited_after_a_real_judgement(small_judge, relu_task):
    inflated = RELU.replace("    for (", "    #pragma omp parallel for simd\n    for (").replace(
        '""")', '""", flags=["-fno-openmp", "-fno-tree-vectorize"])'
    )
    verdict = small_judge.judge(relu_task, inflated, timed=False)
    assert verdict.accepted, verdict.message
    assert backends.describe(inflated).cell == (1, 0, 1)
    assert backends.describe(inflated, code=verdict.evidence["code"]).cell == (0, 0, 0)
    honest = inflated.replace('flags=["-fno-openmp", "-fno-tree-vectorize"]', "flags=[]")
    verdict = small_judge.judge(relu_task, honest, timed=False)
    assert backends.describe(honest, code=verdict.evidence["code"]).cell == (1, 0, 1)


def without_disassembler(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("kernelwright.backends._backend.shutil.which", lambda name: None)


def that_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Cpp, "listing", replace(Cpp.listing, command=("false",)))


def that_cannot_be_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Cpp, "listing", replace(Cpp.listing, counts=lambda text: {"instructions": 1 // 0}))


def too_large(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(LARGEST, "cpp", 1)


@pytest.mark.parametrize("trouble", [without_disassembler, that_fails, that_cannot_be_read, too_large])
def test_what_cannot_be_listed_is_accepted_without(
    trouble: Callable[[pytest.MonkeyPatch], None], small_judge, relu_task, monkeypatch
):
    trouble(monkeypatch)
    verdict = small_judge.judge(relu_task, relu(FRESH.format(trouble.__name__)), timed=False)
    assert verdict.accepted
    assert "code" not in verdict.evidence


@listed_here
def test_a_library_is_looked_into_once(small_judge: Judge, relu_task, monkeypatch):
    source = relu(FRESH.format("once"))
    first = small_judge.judge(relu_task, source, timed=False).evidence["code"]
    without_disassembler(monkeypatch)
    assert small_judge.judge(relu_task, source, timed=False).evidence["code"] == first


# Languages


class Shelf:
    """A builder that has handed out these libraries, and lists each by a recorded text."""

    def __init__(self, listings: dict[Path, str]) -> None:
        self._listings = listings
        self.served = dict(enumerate(listings))

    def list_code(self, library: Path, command: tuple[str, ...]) -> str:
        return self._listings[library]


def test_libraries_of_a_language_are_counted_together_and_languages_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(_listing, "disassembler", lambda: "/bin/cuobjdump")
    sass = (RECORDED / "cuda.sass").read_text()
    shelf = Shelf({tmp_path / name: sass for name in ("one", "two", "other")})
    for path in shelf.served.values():
        path.write_bytes(b"code")
    found = Inventory(shelf).of({0: "cuda", 1: "cuda", 2: "sycl"})  # type: ignore[arg-type]
    once = backends.kernel_counts(backends.read_sass(sass))
    assert found == {"cuda": together([once, once])}
    assert found["cuda"]["kernels"] == 2 * once["kernels"] > 0


def test_a_language_of_which_one_library_cannot_be_listed_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(_listing, "disassembler", lambda: "/bin/cuobjdump")
    shelf = Shelf({tmp_path / "one": (RECORDED / "cuda.sass").read_text(), tmp_path / "two": "no kernels"})
    for path in shelf.served.values():
        path.write_bytes(b"code")
    assert Inventory(shelf).of({0: "cuda", 1: "cuda"}) == {}  # type: ignore[arg-type]
    assert Inventory(shelf).of({0: "cuda", 7: "cuda"}) == {}  # type: ignore[arg-type]
    assert list(Inventory(shelf).of({0: "cuda"})) == ["cuda"]  # type: ignore[arg-type]


def test_without_cuobjdump_a_gpu_library_is_not_compiled_again_to_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_listing, "disassembler", lambda: None)
    with pytest.raises(InfraError, match="cuobjdump is not installed"):
        _listing.counts_of(Shelf({}), tmp_path)  # type: ignore[arg-type]


def test_what_triton_compiled_is_counted_from_its_ptx_if_it_is_all_there(monkeypatch):
    piece = _listing.Compiled("k", ".ptx", (RECORDED / "cuda.ptx").read_bytes())
    other = _listing.Compiled("k", ".cubin", b"\x7fELF")
    once = backends.kernel_counts(backends.read_ptx(piece.content.decode()))
    assert _listing.triton_counts([piece, other]) == {"triton": once}
    assert _listing.triton_counts([other]) == _listing.triton_counts([]) == {}
    assert _listing.triton_counts([piece] * _listing.MOST_FILES) == {}
    assert _listing.MOST_FILES == _launches.MOST_FILES
    monkeypatch.setattr(_listing, "LARGEST_PTX", 100)
    assert _listing.triton_counts([piece]) == {}
