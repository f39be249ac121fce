"""A place on a node: one verdict for one job however often it is asked for; what was compiled elsewhere is used."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright import native
from kernelwright.fleet import Job, Kind, device_name
from kernelwright.fleet._abilities import Abilities
from kernelwright.fleet._seat import BEFORE, Bench, Seat, admit
from kernelwright.judge import Judge
from tests.fleet.conftest import Puppet

HERE = "this-device"
TEXT = 'extern "C" int answer() { return 42; }'
CANDIDATE = f"from kernelwright import native\nlib = native.cpp({TEXT!r})\n"
OFFERS = Abilities(
    node="one", device=HERE, builds=("cpp",), times=("cpp", "cuda-sm_90"), toolchain="0123", judge="0.1.0"
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat sets threads and GPUs as they were before its cluster came; after a test they are as they were here."""
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


def _hear(seat: Seat, job: Job) -> dict[str, object]:
    return seat.hear(job.to_wire(), job.task)


def test_the_same_job_again_has_the_same_verdict_and_is_not_judged(
    job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    seat = Seat(puppet, HERE)
    first, again = _hear(seat, job("a")), _hear(seat, job("a"))
    assert first["kind"] is Kind.JUDGED
    assert first == again
    assert puppet.heard == ["a"]
    assert seat.kept() == [job("a").name]


def test_a_fault_is_told_and_not_kept(job: Callable[..., Job], puppet: type[Puppet]) -> None:
    puppet.recovers_after = 1
    seat = Seat(puppet, HERE)
    told = _hear(seat, job("fault"))
    assert (told["fault"], told["hopeless"]) == ("InfraError: the template is gone", False)
    assert _hear(seat, job("fault"))["kind"] is Kind.JUDGED


def test_a_job_for_another_device_is_not_judged_here(job: Callable[..., Job], puppet: type[Puppet]) -> None:
    told = _hear(Seat(puppet, HERE), job("a", device="another"))
    assert (told["fault"], told["hopeless"]) == (f"this is {HERE}, and not another", True)
    assert puppet.heard == []


def test_what_the_cluster_wrote_into_the_environment_is_taken_back(
    monkeypatch: pytest.MonkeyPatch, puppet: type[Puppet]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv(BEFORE + "CUDA_VISIBLE_DEVICES", "3")
    Seat(puppet, HERE)
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "3"


# *** libraries ***


def _refuses(source: native.Source, target: Path) -> None:
    raise AssertionError("nothing is compiled here")


def test_what_was_compiled_elsewhere_is_not_compiled_again(
    open_judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built = Bench(lambda **_: open_judge, HERE).build(CANDIDATE)
    assert list(built) == [native.build_key(native.Source("cpp", TEXT))]
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    admit(built)
    found = native.BuildCache(tmp_path / "build").get(native.Source("cpp", TEXT), _refuses)
    assert found.read_bytes() == next(iter(built.values()))


def test_a_library_that_was_damaged_on_the_way_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    admit({"0" * 64: b"no library at all" * 10})
    assert not list(tmp_path.rglob("*.so"))


@pytest.mark.parametrize("key", ["../../escape", "0" * 63, ""])
def test_a_name_that_is_no_build_key_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match="is no build key"):
        admit({key: b""})


# *** what a node says of itself ***


def test_abilities_come_back_from_labels_and_resources() -> None:
    assert Abilities.told_by(OFFERS.labels(), OFFERS.resources()) == OFFERS
    assert Abilities.told_by({}, OFFERS.resources()) is None


def test_a_node_builds_for_another_where_equal_texts_come_to_equal_code(job: Callable[..., Job]) -> None:
    other = Abilities(node="two", device="x", builds=(), times=("cpp",), toolchain="4567", judge="0.1.0")
    assert OFFERS.builds_for(OFFERS, job(CANDIDATE))
    assert not OFFERS.builds_for(other, job(CANDIDATE))
    assert not OFFERS.builds_for(OFFERS, job("import torch"))


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"cpu": "Intel(R) Xeon(R) Gold 6430", "cores": 64, "gpu": "absent"}, "intel-xeon-gold-6430-64-cores"),
        ({"cpu": "AMD EPYC", "cores": 1, "gpu": "absent"}, "amd-epyc-1-core"),
        ({"cpu": "AMD EPYC", "cores": 16, "gpu": "NVIDIA H200"}, "nvidia-h200"),
    ],
)
def test_devices_have_names_that_can_be_typed(facts: dict[str, object], name: str) -> None:
    assert device_name(facts) == name
