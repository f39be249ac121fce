"""What holds a kernel back: every rule on facts made up for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._bottleneck import RULES, WORTH, Facts, diagnose, paragraph

ZMM = {"scalar": 0.0, "xmm": 0.0, "ymm": 0.0, "zmm": 1.0}
XMM = {"scalar": 0.0, "xmm": 1.0, "ymm": 0.0, "zmm": 0.0}
SCALAR = {"scalar": 0.9, "xmm": 0.1, "ymm": 0.0, "zmm": 0.0}
OWN = {"own": 1.0, "maths": 0.0, "waiting": 0.0, "torch": 0.0, "other": 0.0}


def kernel(**changes) -> Facts:
    """A kernel with nothing wrong but its distance from the roof, with these changes."""
    usual = {
        "seconds": 1e-2,
        "roof_seconds": 1e-3,
        "bound": "memory",
        "outside_share": 0.02,
        "processors": 4.0,
        "cores": 4,
        "samples": OWN,
        "arithmetic": ZMM,
        "vector_bits": 512,
    }
    return Facts(**(usual | changes))


def first(**changes) -> str:
    return diagnose(kernel(**changes))[0].name


CAUSES = {
    "overhead": {"outside_share": 0.9},
    "library": {"outside_share": 0.9, "samples": OWN | {"own": 0.1, "torch": 0.9}},
    "serial": {"processors": 1.0},
    "imbalance": {"samples": OWN | {"own": 0.5, "waiting": 0.5}},
    "not-vectorised": {"arithmetic": SCALAR},
    "narrow-vectors": {"arithmetic": XMM},
    "special-functions": {"samples": OWN | {"own": 0.4, "maths": 0.6}, "calls": ("expf",)},
    "divisions": {"division_share": 0.8},
    "unfused": {"bound": "compute", "fused_share": 0.1},
    "spills": {"spill_share": 0.3},
    "fresh-memory": {"page_faults": 20_000},
    "memory-far-from-roof": {},
    "compute-far-from-roof": {"bound": "compute", "fused_share": 1.0},
    "memory-near-roof": {"roof_seconds": 8e-3},
    "compute-near-roof": {"roof_seconds": 8e-3, "bound": "compute", "fused_share": 1.0},
}


@pytest.mark.parametrize(("name", "changes"), CAUSES.items(), ids=CAUSES)
def test_each_cause_is_named_by_its_rule(name, changes):
    assert [finding.name for finding in diagnose(kernel(**changes))] == [name]


def test_the_cause_with_the_most_to_gain_comes_first():
    found = diagnose(kernel(arithmetic=SCALAR, processors=1.0))
    assert [finding.name for finding in found] == ["not-vectorised", "serial"]
    many = diagnose(kernel(arithmetic=SCALAR, processors=1.0, cores=64, roof_seconds=1e-5))
    assert [finding.name for finding in many] == ["serial", "not-vectorised"]


def test_near_the_roof_that_is_the_bottleneck_whatever_else_is_found():
    assert first(roof_seconds=7e-3, arithmetic=SCALAR, processors=1.0) == "memory-near-roof"


def test_no_gain_goes_through_the_roof():
    assert diagnose(kernel(roof_seconds=5e-3, processors=1.0))[0].gain == pytest.approx(2.0)


def test_one_core_is_never_serial():
    assert first(processors=1.0, cores=1) == "memory-far-from-roof"


def test_a_kernel_too_short_for_threads_is_not_called_serial():
    assert first(seconds=2e-5, roof_seconds=2e-6, processors=1.0) == "memory-far-from-roof"


def test_loads_and_stores_speak_where_there_is_no_arithmetic():
    found = diagnose(kernel(arithmetic=None, moves=SCALAR))[0]
    assert found.name == "not-vectorised"
    assert "loads and stores" in found.sentence


def test_scalar_loops_that_take_no_time_are_no_bottleneck():
    assert first(arithmetic=SCALAR, samples=OWN | {"own": 0.1, "other": 0.9}) == "memory-far-from-roof"


def test_calls_in_loops_are_named_where_they_keep_it_scalar():
    found = diagnose(kernel(arithmetic=SCALAR, calls=("expf",)))[0]
    assert any("expf" in advice for advice in found.advice)


def test_vector_versions_of_functions_are_not_called_one_element_a_call():
    share = OWN | {"own": 0.3, "maths": 0.7}
    scalar, vector = (diagnose(kernel(samples=share, calls=(name,)))[0] for name in ("expf", "_ZGVeN16v_expf"))
    assert "one element a call" in scalar.sentence
    assert "one element a call" not in vector.sentence
    assert vector.gain < scalar.gain


def test_gathers_are_named_where_memory_is_slow():
    found = diagnose(kernel(gathers=3))[0]
    assert any("3 gathers" in advice for advice in found.advice)


def test_what_is_not_known_accuses_nobody():
    bare = Facts(seconds=1e-2, roof_seconds=1e-3, bound="memory")
    assert [finding.name for finding in diagnose(bare)] == ["memory-far-from-roof"]


def test_the_paragraph_names_cause_gain_and_next_step():
    text = paragraph(diagnose(kernel(arithmetic=SCALAR, processors=1.0)))
    assert text.startswith("It is not vectorised")
    assert "about 6.4x to gain" in text
    assert "Try next: " in text
    assert "Also: it is serial" in text


SHARES = st.floats(0, 1)
ANYTHING = st.builds(
    Facts,
    seconds=st.floats(1e-7, 10),
    roof_seconds=st.floats(1e-9, 10),
    bound=st.sampled_from(["memory", "compute"]),
    outside_share=st.none() | SHARES,
    processors=st.none() | st.floats(0, 64),
    cores=st.integers(1, 64),
    samples=st.none() | st.fixed_dictionaries(dict.fromkeys(OWN, SHARES)),
    arithmetic=st.none() | st.sampled_from([ZMM, XMM, SCALAR]),
    moves=st.none() | st.sampled_from([ZMM, XMM, SCALAR]),
    fused_share=st.none() | SHARES,
    division_share=SHARES,
    spill_share=SHARES,
    page_faults=st.floats(0, 1e7),
)


@given(facts=ANYTHING)
def test_any_facts_give_one_bottleneck_with_advice_and_a_gain_within_the_roof(facts):
    found = diagnose(facts)
    assert found
    assert all(finding.advice and finding.sentence for finding in found)
    assert all(1.0 <= finding.gain <= facts.most_gain * 1.0001 for finding in found)
    assert paragraph(found)


def test_every_rule_has_a_case_above():
    told = {rule.__name__ for rule in RULES if any(_speaks(rule, changes) for changes in CAUSES.values())}
    assert told == {rule.__name__ for rule in RULES}


def _speaks(rule, changes) -> bool:
    finding = rule(kernel(**changes))
    return finding is not None and finding.gain >= WORTH
