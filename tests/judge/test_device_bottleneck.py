"""Each rule speaks when its cause is there, and is silent when it is not."""

import pytest

from kernelwright.judge._bottleneck import paragraph
from kernelwright.judge.device._bottleneck import SCARCE, DeviceFacts, diagnose

# A kernel that nothing is wrong with, except that it is five times slower than its roof.
FAR = {
    "seconds": 1e-3,
    "roof_seconds": 2e-4,
    "bound": "memory",
    "busy_share": 0.98,
    "launches": 1,
    "kernels": 1,
    "kernel": "scale",
    "blocks": 4096,
    "threads": 256,
    "processors": 132,
    "occupancy": 1.0,
    "limited_by": "threads",
    "waves": 3.88,
    "wide_share": 1.0,
    "tensor": False,
}
# For products: compute bound, in a type that tensor cores take.
PRODUCT = {"bound": "compute", "matrix_share": 1.0, "tensor_gain": 15.0}
WAITING = {"memory_busy": 20.0, "compute_busy": 30.0, "stalls": {"long_scoreboard": 20.0, "barrier": 1.0}}


def names(**changes):
    return [finding.name for finding in diagnose(DeviceFacts(**FAR | changes))]


def test_with_no_cause_in_sight_the_distance_to_the_roof_is_told():
    assert names() == ["memory-far-from-roof"]
    assert names(**PRODUCT | {"tensor": True}) == ["compute-far-from-roof"]


def test_near_the_roof_nothing_else_is_the_bottleneck():
    assert names(roof_seconds=9e-4, wide_share=0.0) == ["memory-near-roof"]
    assert names(**PRODUCT | {"tensor": True, "roof_seconds": 7e-4}) == ["compute-near-roof"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("launch-bound", {"busy_share": 0.2}),
        ("library", {"library_share": 0.9}),
        ("passes", {"launches": 3, "kernels": 2}),
        ("small-grid", {"blocks": 4, "waves": 0.01}),
        ("tail", {"blocks": 1200, "waves": 1.14}),
        ("idle-lanes", {"threads": 48}),
        ("low-occupancy", {"occupancy": 0.03, "limited_by": "shared memory"}),
        ("spills", {"spill_share": 0.4}),
        ("no-tensor-cores", PRODUCT),
        ("uncoalesced", {"sector_use": 0.125}),
        ("more-bytes", {"moved_ratio": 3.0}),
        ("narrow-loads", {"wide_share": 0.0}),
        ("special-functions", {"special_share": 0.3}),
        ("latency", WAITING),
        ("low-occupancy", WAITING | {"occupancy": 0.03, "limited_by": "shared memory"}),
    ],
)
def test_a_cause_is_named(name, changes):
    assert names(**changes) == [name]


@pytest.mark.parametrize(
    "changes",
    [
        {"busy_share": 0.7},
        {"busy_share": None},
        {"library_share": 0.3},
        {"blocks": 120},
        {"blocks": 0},
        {"waves": 1.9},
        {"waves": 0.5},
        {"threads": 0},
        {"occupancy": 0.05, "tensor": True},
        {"occupancy": None},
        {"spill_share": 0.01},
        {"matrix_share": 1.0, "tensor_gain": 15.0},
        {"sector_use": 0.9},
        {"moved_ratio": 1.1},
        {"wide_share": 0.0, "async_copies": True},
        {"wide_share": None},
        {"special_share": 0.05},
        WAITING | {"memory_busy": 80.0},
        WAITING | {"stalls": {}},
        WAITING | {"stalls": {"long_scoreboard": 1.0, "barrier": 1.0, "mio_throttle": 1.0}},
    ],
)
def test_without_its_cause_a_rule_is_silent(changes):
    assert names(**changes) == ["memory-far-from-roof"]


def test_products_in_full_precision_need_no_tensor_cores():
    assert "no-tensor-cores" not in names(**PRODUCT | {"tensor_gain": 1.0})
    assert "no-tensor-cores" not in names(**PRODUCT | {"tensor": None})


def test_no_gain_is_more_than_the_distance_to_the_roof():
    (finding,) = diagnose(DeviceFacts(**FAR | {"blocks": 1, "waves": 0.01}))
    assert finding.gain == pytest.approx(5.0)


def test_a_kernel_that_takes_little_of_a_call_gains_little():
    assert names(blocks=4, waves=0.01, kernel_share=0.1) == ["memory-far-from-roof"]


def test_what_runs_out_says_what_to_do():
    for scarce, advice in SCARCE.items():
        (finding,) = diagnose(DeviceFacts(**FAR | {"occupancy": 0.03, "limited_by": scarce}))
        assert scarce in finding.sentence
        assert finding.advice == (advice,)


def test_the_worst_comes_first_and_the_rest_follows():
    found = diagnose(DeviceFacts(**FAR | {"blocks": 30, "waves": 0.03, "wide_share": 0.0}))
    assert [finding.name for finding in found] == ["small-grid", "narrow-loads"]
    text = paragraph(found)
    assert text.startswith("Too small a grid: 30 blocks of scale for 132 multiprocessors (about 4.1x to gain). Try")
    assert "Also: 100% of the loads of scale are narrower than 16 bytes." in text
