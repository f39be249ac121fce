"""Inputs a little changed."""

import numpy as np

from kernelwright.judge._memory import Packed
from kernelwright.judge._touch import ELEMENTS, variants


def packed(*arrays: np.ndarray) -> Packed:
    leaves, offset = [], 0
    for array in arrays:
        strides = [step // array.itemsize for step in array.strides]
        leaf = {"dtype": str(array.dtype), "shape": list(array.shape), "strides": strides, "offset": offset}
        leaves.append({**leaf, "nbytes": array.nbytes})
        offset += array.nbytes
    data = np.concatenate([array.reshape(-1).view(np.uint8) for array in arrays])
    return Packed({"t": "list", "items": []}, leaves, data)


def floats(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_one_element_differs_and_every_time_another():
    first, second = floats((50, 70), 1), floats((50, 70), 2)
    found = dict(variants(packed(first), packed(second)))
    assert list(found) == [f"one element changed ({number})" for number in range(1, ELEMENTS + 1)]
    places = set()
    for changed in found.values():
        different = changed.values(0) != first.reshape(-1)
        assert different.sum() == 1
        assert np.array_equal(changed.values(0)[different], second.reshape(-1)[different])
        places.add(int(different.argmax()))
    assert len(places) > 1


def test_symmetric_matrices_stay_symmetric():
    first, second = (floats((40, 40), seed) for seed in (1, 2))
    first, second = first + first.T, second + second.T
    for _, changed in variants(packed(first), packed(second)):
        matrix = changed.values(0).reshape(40, 40)
        assert np.array_equal(matrix, matrix.T)
        assert not np.array_equal(matrix, first)


def test_each_operand_is_changed_alone():
    one, two = (packed(floats((8, 9), seed), floats((9, 4), seed + 10)) for seed in (1, 2))
    found = dict(variants(one, two))
    alone = found["only input 1 changed"]
    assert np.array_equal(alone.values(0), one.values(0))
    assert np.array_equal(alone.values(1), two.values(1))


def test_integers_are_left_alone():
    one, two = (packed(np.arange(20) + seed) for seed in (1, 2))
    assert list(variants(one, two)) == []


def test_draws_of_different_shapes_give_nothing():
    assert list(variants(packed(floats((3, 4), 1)), packed(floats((4, 4), 1)))) == []
