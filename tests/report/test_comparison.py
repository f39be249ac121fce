"""Searches at equal budget: what stands beside what, and what is said of the rest."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.report import Comparison, Course, compare
from kernelwright.report._course import Step

FACTS = {
    "task": "softmax",
    "device": "cpu",
    "judge": "1",
    "backend": "cpp",
    "model": "m",
    "method": "map-elites",
    "without": "",
}
BY = ("method", "without")
curves = st.lists(st.one_of(st.none(), st.floats(-3, 3)), min_size=1, max_size=12).filter(lambda bests: any(bests))


def course(bests, seed=0, run="", costs=None, **facts) -> Course:
    costs = costs or [1] * len(bests)
    steps = tuple(Step(sum(costs[: number + 1]), best) for number, best in enumerate(bests))
    about = {**FACTS, **facts}
    name = run or f"{about['method']}-{about['without']}-{about['task']}-{about['device']}-{seed}"
    return Course(name, seed, about, steps, sum(costs))


def compared(*courses: Course, by=BY, whole=True) -> Comparison:
    return compare(courses, by, whole=whole)


@given(curves)
def test_a_run_is_as_good_as_itself(bests):
    found = compared(course(bests), course(bests, method="refine"))
    gap = found.gaps[0]
    assert gap.area.value == gap.final.value == 0


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=12), st.floats(-2, 2))
def test_a_run_that_is_always_so_much_better_is_so_much_better(bests, shift):
    found = compared(course([best + shift for best in bests]), course(bests, method="refine"))
    gap = found.gaps[0]
    assert gap.area.value == pytest.approx(shift, abs=1e-9)
    assert gap.final.value == pytest.approx(shift, abs=1e-9)


def test_the_area_is_the_mean_of_the_best_so_far():
    found = compared(course([0.0, 1.0, 1.0, 2.0]), course([0.0] * 4, method="refine"))
    assert found.places[0].mean_area("map-elites") == pytest.approx(1.0)
    assert found.gaps[0].final.value == 2.0


def test_the_longer_run_counts_up_to_the_end_of_the_shorter_and_that_is_said():
    found = compared(course([0.0, 0.0, 9.0]), course([0.0, 1.0], method="refine", run="short"))
    assert found.places[0].budget == 2
    assert found.gaps[0].final.value == -1.0
    assert any("run short is the shortest" in remark for remark in found.remarks)


def test_while_nothing_is_accepted_the_slowest_first_kernel_counts():
    found = compared(course([None, None, 1.0]), course([-2.0, 0.0, 0.0], method="refine"))
    assert found.places[0].nothing == -2.0
    assert found.places[0].mean_curve("map-elites") == [-2.0, -2.0, 1.0]


@pytest.mark.parametrize("what", ["task", "device", "judge", "model", "backend"])
def test_what_differs_in_more_than_the_way_is_never_mixed_and_that_is_said(what):
    found = compared(course([1.0]), course([2.0], method="refine", **{what: "another"}))
    assert found.gaps == []
    assert any("are not compared" in remark for remark in found.remarks)
    assert any(f"different {what}s" in remark and "another" in remark for remark in found.remarks)


def test_each_task_is_compared_with_itself_and_tasks_count_alike():
    found = compared(
        *(course([1.0], seed, task="a") for seed in range(4)),
        *(course([0.0], seed, task="a", method="refine") for seed in range(4)),
        course([0.0], task="b"),
        course([1.0], task="b", method="refine"),
    )
    assert len(found.places) == 2
    assert found.gaps[0].area.value == 0
    assert found.gaps[0].area.tasks == 2


def test_seeds_are_paired_and_lonely_ones_are_left_out_and_named():
    found = compared(
        course([1.0], 0),
        course([2.0], 1),
        course([9.0], 7),
        course([0.0], 0, method="refine"),
        course([1.5], 1, method="refine"),
    )
    assert found.gaps[0].area.pairs == 2
    assert found.gaps[0].area.value == pytest.approx((1.0 + 0.5) / 2)
    assert any("seeds 7 are left out" in remark for remark in found.remarks)


def test_without_a_seed_in_common_runs_are_compared_unpaired_and_that_is_said():
    found = compared(
        course([1.0], 0), course([3.0], 1), course([0.0], 5, method="refine"), course([1.0], 6, method="refine")
    )
    assert found.gaps[0].area.value == pytest.approx(1.5)
    assert any("no seed in common" in remark for remark in found.remarks)


def test_what_was_left_out_makes_another_way():
    found = compared(course([1.0]), course([0.5], without="gradients"))
    assert found.ways == ("map-elites", "map-elites without gradients")
    assert found.gaps[0].area.value == pytest.approx(0.5)


def test_compared_by_method_alone_runs_without_a_mechanism_stay_apart():
    found = compared(course([1.0]), course([0.5], method="refine", without="gradients"), by=("method",))
    assert found.gaps == []


def test_models_can_be_compared():
    found = compared(course([1.0], model="large"), course([0.5], model="small"), by=("model",))
    assert found.ways == ("large", "small")
    assert found.gaps[0].area.value == pytest.approx(0.5)


def test_runs_in_which_nothing_was_judged_or_accepted_are_left_out_and_named():
    found = compared(course([1.0]), course([], run="empty"), course([None], task="hopeless"))
    assert len(found.places) == 1
    assert any("run empty is left out" in remark for remark in found.remarks)
    assert any("hopeless is left out" in remark for remark in found.remarks)


def test_a_budget_that_flows_weighs_what_was_known_how_long():
    costs = [1.0, 9.0]
    found = compared(course([0.0, 1.0], costs=costs), course([0.0, 0.0], costs=costs, method="refine"), whole=False)
    # The second kernel came when all was spent, so it changes the end and hardly the area.
    assert found.gaps[0].final.value == 1.0
    assert math.isclose(found.gaps[0].area.value, 0.0, abs_tol=0.01)


def test_one_way_alone_is_said_to_be_alone():
    assert any("nothing to hold against it" in remark for remark in compared(course([1.0]), course([2.0], 1)).remarks)
