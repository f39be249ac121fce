"""A task on which an answer that takes no work would pass is found out; a healthy one is not accused."""

import numpy as np
import pytest

from kernelwright.judge import _nulls
from kernelwright.judge._compare import Yardstick
from kernelwright.judge._expected import Expected, Output, Trial
from kernelwright.judge._memory import Packed
from kernelwright.tasks import Case

RNG = np.random.default_rng(0)
RANDOM = [RNG.standard_normal((6, 8)) for _ in range(2)]


def output(values, dtype="float32", aliases_input=False):
    values = np.asarray(values)
    flat = values.reshape(-1)
    return Output(
        dtype=dtype,
        shape=list(values.shape),
        dense=True,
        contiguous=True,
        aliases_input=aliases_input,
        oracle=Yardstick(flat.astype(np.float64) if dtype == "float32" else flat, dtype),
        plain=flat.astype(np.float32) if dtype == "float32" else flat,
        reduction=1.0,
        precision="strict",
    )


def trial(*outputs, inputs=()):
    leaves, data = [], b""
    for values in inputs:
        raw = np.ascontiguousarray(values, dtype=np.float32)
        leaf = {"shape": list(raw.shape), "dtype": "float32", "offset": len(data), "nbytes": raw.nbytes}
        leaves.append(leaf)
        data += raw.tobytes()
    packed = Packed({}, leaves, np.frombuffer(data, dtype=np.uint8))
    return Trial(Case("given"), "given", 0, packed, Expected({}, list(outputs)))


def passing(right, other, dtype="float32"):
    return _nulls.passing(trial(output(right, dtype)), trial(output(other, dtype)))


WEAK = {
    "all zeros": (np.zeros((6, 8)), np.zeros((6, 8))),
    "all ones": (np.ones((6, 8)), np.ones((6, 8))),
    "the mean of the answer": (np.full((6, 8), 3.0), np.full((6, 8), 4.0)),
    "the answer's mean along its last axis": (
        np.repeat(RANDOM[0][:, :1], 8, axis=1),
        np.repeat(RANDOM[1][:, :1], 8, axis=1),
    ),
    "the answer to other inputs": (RANDOM[0], RANDOM[0]),
    "the right numbers in the wrong places": (np.tile(RANDOM[0].reshape(-1)[:16], 3), np.tile(RANDOM[1][0, 0], 48)),
    "an answer whose second half is stale": (
        np.concatenate([RANDOM[0][:3], RANDOM[1][3:]]),
        np.concatenate([RANDOM[1][:3], RANDOM[1][3:]]),
    ),
}


def test_every_null_candidate_has_a_weak_task_here():
    assert WEAK.keys() == _nulls.NULLS.keys()


@pytest.mark.parametrize("name", WEAK)
def test_a_task_that_this_null_candidate_solves_is_found_out(name):
    assert name in passing(*WEAK[name])


def test_a_healthy_task_is_solved_by_no_null_candidate():
    assert passing(*RANDOM) == []


def test_a_healthy_integer_task_is_solved_by_none():
    assert passing(RNG.integers(0, 100, 48), RNG.integers(0, 100, 48), "int64") == []


def test_an_integer_task_of_zeros_is_found_out():
    assert "all zeros" in passing(np.zeros(48, np.int64), RNG.integers(0, 100, 48), "int64")


def test_a_single_number_is_not_its_own_mean():
    assert passing(np.array(1.25), np.array(-0.5)) == []


def test_a_single_number_that_never_changes_is_found_out():
    assert "the answer to other inputs" in passing(np.array(1.25), np.array(1.25))


def test_one_honest_output_is_enough():
    mine = trial(output(np.zeros((6, 8))), output(RANDOM[0]))
    theirs = trial(output(np.zeros((6, 8))), output(RANDOM[1]))
    assert _nulls.passing(mine, theirs) == []


def test_a_small_part_of_the_answer_that_varies_is_enough():
    right, other = np.zeros((40, 50)), np.zeros((40, 50))
    right[33, 3], other[33, 3] = 2.0, 3.0
    assert passing(right, other) == []


def test_returning_an_input_unchanged_is_noticed():
    assert _nulls.equals_input(trial(output(RANDOM[0].astype("f4")), inputs=[RANDOM[1], RANDOM[0]]))


def test_an_output_of_its_own_equals_no_input():
    assert not _nulls.equals_input(trial(output(2 * RANDOM[0]), inputs=[RANDOM[0]]))


def test_an_input_of_another_shape_is_not_the_output():
    assert not _nulls.equals_input(trial(output(RANDOM[0].astype("f4")), inputs=[RANDOM[0].reshape(8, 6)]))


@pytest.mark.parametrize("aliases", [True, False])
def test_an_input_handed_through_beside_a_real_output_is_no_fault(aliases):
    through = output(RANDOM[0].astype("f4"), aliases_input=aliases)
    assert not _nulls.equals_input(trial(output(2 * RANDOM[0]), through, inputs=[RANDOM[0]]))
    assert _nulls.equals_input(trial(through, inputs=[RANDOM[0]]))
