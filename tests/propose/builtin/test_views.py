"""Views as addresses: each gives the addresses that the same view of a real array has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.propose.builtin._loops import Layout, dense
from kernelwright.propose.builtin._views import NoViewError, broadcast, flip, narrow, permute, reshape, split, unsqueeze


def addresses(layout: Layout) -> np.ndarray:
    """What a layout reads, from an array in which every element is its own address."""
    grid = np.indices(layout.shape).reshape(len(layout.shape), -1)
    return (layout.offset + np.array(layout.strides, dtype=int) @ grid).reshape(layout.shape)


def start(*shape: int) -> tuple[Layout, np.ndarray]:
    return Layout(shape, 0, dense(shape)), np.arange(int(np.prod(shape))).reshape(shape)


def test_views_have_the_addresses_of_real_ones() -> None:
    layout, array = start(4, 6, 5)
    assert np.array_equal(addresses(permute((2, 0, 1))(layout)), array.transpose(2, 0, 1))
    assert np.array_equal(addresses(narrow(1, 1, 2, 3)(layout)), array[:, 1:6:3])
    assert np.array_equal(addresses(flip(0)(layout)), array[::-1])
    assert np.array_equal(addresses(unsqueeze(1)(layout)), array[:, None])
    assert np.array_equal(addresses(split(1, 3)(layout)), array.reshape(4, 3, 2, 5))
    row, one = start(1, 5)
    assert np.array_equal(addresses(broadcast((2, 3, 5))(row)), np.broadcast_to(one, (2, 3, 5)))


@given(
    st.permutations(range(3)), st.sampled_from([(24, 5), (4, 30), (2, 2, 30), (120,), (4, 3, 2, 5), (8, 15), (1, 120)])
)
def test_a_reshape_has_the_right_addresses_or_is_refused(order: list[int], shape: tuple[int, ...]) -> None:
    layout, array = start(4, 6, 5)
    turned = permute(tuple(order))(layout)
    try:
        found = addresses(reshape(shape)(turned))
    except NoViewError:
        assert order != [0, 1, 2]
        return
    assert np.array_equal(found, array.transpose(order).reshape(shape))


def test_a_stretched_axis_is_not_merged_with_a_real_one() -> None:
    row, _ = start(1, 5)
    with pytest.raises(NoViewError):
        reshape((15,))(broadcast((3, 5))(row))
