"""A profile: refused for what is wrong, whole for what is right."""

import platform
import shutil

import pytest

from kernelwright.judge import Judge, Profile, Status, Verdict, _profile, profile
from kernelwright.judge._bottleneck import diagnose
from kernelwright.judge._ceilings import _kept, _machine_key
from kernelwright.judge._profile import Roof, rules_view, vector_bits
from kernelwright.judge._timing import CANDIDATE, CaseTiming
from tests.judge.texts import EIGHT, RELU

# What a module shares gets no second chance when its tests do: on a busy machine it takes its own.
TRIES = 3
FACTS = {"cases", "case", "cores", "vector_bits", "ceilings", "samples", "code", "counters"}
CASE = set(
    "case weight time_ms eager_ms element_bits bytes operations roof bytes_per_second operations_per_second "
    "processors page_faults outside_share".split()
)


@pytest.fixture(scope="module")
def relu_profile(small_judge, relu_task) -> Profile:
    for _ in range(TRIES):
        found = profile(small_judge, relu_task, RELU)
        if isinstance(found, Profile):
            break
    assert isinstance(found, Profile), found.message
    return found


@pytest.fixture(scope="module")
def eight_verdict(small_judge, eight_task) -> Verdict:
    for _ in range(TRIES):
        verdict = small_judge.judge(eight_task, EIGHT)
        if verdict.accepted:
            break
    assert verdict.status is Status.CORRECT, verdict.message
    return verdict


@pytest.fixture
def judged_eight(small_judge, eight_verdict, monkeypatch) -> Judge:
    """A judge who has judged EIGHT already: what these tests say begins after the verdict."""
    monkeypatch.setattr(small_judge, "judge", lambda task, source: eight_verdict)
    return small_judge


def test_a_profile_tells_what_its_page_promises(relu_profile):
    told = relu_profile.to_json()
    assert told["kind"] == "kernelwright profile"
    assert told["facts"].keys() == FACTS
    assert all(case.keys() == CASE for case in told["facts"]["cases"])
    assert told["bottleneck"].keys() == {"name", "sentence", "advice", "gain"}
    assert told["advice"] == told["bottleneck"]["advice"]
    assert told["paragraph"].startswith(told["bottleneck"]["sentence"])


def test_the_bottleneck_follows_from_the_facts_alone(relu_profile):
    told = relu_profile.to_json()
    again = [finding.to_json() for finding in diagnose(rules_view(told["facts"]))]
    assert again == [told["bottleneck"], *told["also"]]


def test_bytes_and_operations_are_those_of_the_task(relu_profile):
    (case,) = relu_profile.facts["cases"]
    assert case["bytes"]["written"] == 300 * 401 * 4
    assert case["operations"]["elementwise"] == 300 * 401
    assert case["operations"]["matrix"] == 0
    assert 0 <= case["outside_share"] <= 1


@pytest.mark.skipif(shutil.which("objdump") is None or platform.machine() != "x86_64", reason="needs objdump on x86-64")
def test_its_own_loop_is_found_in_what_was_compiled(relu_profile):
    code = relu_profile.facts["code"]
    assert code["tool"] == "objdump"
    assert [function["name"] for function in code["functions"]] == ["run"]
    assert code["hot"]["arithmetic"]["scalar"] < 1.0


def test_a_wrong_kernel_gets_its_verdict_and_no_profile(small_judge, eight_task):
    found = profile(small_judge, eight_task, EIGHT.replace("+ 1", "+ 2"))
    assert isinstance(found, Verdict)
    assert found.status is Status.WRONG_VALUE


def test_a_kernel_that_fails_while_profiled_is_rejected_without_numbers(judged_eight, eight_task, monkeypatch):
    def fail(self):
        raise _profile.Rejection(Status.CRASH, "crashed with SIGSEGV during profile", signal=11)

    monkeypatch.setattr(_profile._Session, "profile", fail)
    found = profile(judged_eight, eight_task, EIGHT)
    assert isinstance(found, Verdict)
    assert (found.status, found.stage) == (Status.CRASH, "profile")
    assert found.time_ms == found.speedup == {}
    assert found.evidence["signal"] == 11


def test_without_the_listing_program_one_line_says_so(judged_eight, eight_task, monkeypatch):
    monkeypatch.setattr("kernelwright.backends._backend.shutil.which", lambda name: None)
    found = profile(judged_eight, eight_task, EIGHT)
    assert isinstance(found, Profile)
    assert "objdump is not installed" in found.facts["code"]["absent"]
    assert "perf is not installed" in found.facts["counters"]["absent"]


def test_operations_that_cannot_be_counted_leave_only_the_memory_roof(judged_eight, eight_task, monkeypatch):
    prepared = judged_eight.prepare(eight_task)
    monkeypatch.setattr(prepared, "operations", _raise_task_error)
    found = profile(judged_eight, eight_task, EIGHT)
    assert isinstance(found, Profile)
    (case,) = found.facts["cases"]
    assert "could not be counted" in case["operations"]["absent"]
    assert case["operations_per_second"] is None
    assert case["roof"]["bound"] == "memory"


def _raise_task_error(inputs):
    raise _profile.TaskError("the reference raises NotImplementedError", "reference.py")


# Parts


def test_the_longer_of_two_roofs_counts():
    assert Roof(1.0, 0.1, 0.5).bound == "compute"
    assert Roof(1.0, 0.1, 0.5).seconds == 0.5
    assert Roof(1.0, 0.5, 0.1).bound == "memory"
    assert Roof(1.0, 0.5, None).seconds == 0.5


def test_a_kernel_faster_than_its_operations_avoids_some_and_is_held_to_its_bytes():
    beaten = Roof(1.0, 0.1, 1.5)
    assert beaten.avoids
    assert (beaten.bound, beaten.seconds) == ("memory", 0.1)


@pytest.mark.parametrize(("flags", "bits"), [("sse2 avx avx2 avx512f", 512), ("sse2 avx avx2", 256), ("sse2", 128)])
def test_the_widest_register_is_read_from_the_processors_flags(flags, bits):
    assert vector_bits(f"x86_64\nflags : {flags}") == bits


def test_medians_survive_the_verdicts_json():
    timing = CaseTiming("given", 2.0, [{CANDIDATE: [1e-3, 3e-3, 2e-3], "eager": [4e-3] * 3}], overhead=5e-4)
    again = CaseTiming.from_json(timing.to_json())
    assert again.median(CANDIDATE) == pytest.approx(timing.median(CANDIDATE))
    assert again.weight == 2.0


def test_the_flop_ceiling_is_measured_once_and_kept_beside_the_other(small_judge: Judge):
    first = small_judge.flops_ceiling()
    assert first > 1e8
    kept = _kept(f"{_machine_key()}, flops", lambda: pytest.fail("measured again"))
    assert kept == {"fp32": first}
    assert small_judge.ceilings().bytes_per_second.keys() >= {4096}
