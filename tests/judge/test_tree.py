"""Nested arguments survive the journey through JSON; what cannot travel is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._tree import decode, encode, foreign, outline


class Tensor:
    """Stands for one."""


def is_tensor(value):
    return isinstance(value, Tensor)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    PLAIN | st.builds(Tensor),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_encoded_decodes_to_itself(value):
    leaves = []
    tree = encode(value, is_tensor, leaves)
    assert decode(json.loads(json.dumps(tree)), leaves) == value
    assert foreign(tree) is None


@given(VALUES)
def test_tensors_are_numbered_in_order(value):
    leaves = []
    tree = encode(value, is_tensor, leaves)
    assert all(map(is_tensor, leaves))
    assert outline(tree).count("tensor") >= len(leaves)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Tensor(), "tensor"),
        ((Tensor(), Tensor()), "(tensor, tensor)"),
        ([Tensor()], "(tensor)"),
        ({"mask": Tensor(), "scale": 0.5}, "{mask: tensor, scale: 0.5}"),
        ((Tensor(), {"mask": Tensor()}), "(tensor, {mask: tensor})"),
        (None, "None"),
        ("relu", "'relu'"),
        (object(), "object"),
        ((), "()"),
    ],
)
def test_the_outline_reads_like_the_value(value, words):
    assert outline(encode(value, is_tensor, [])) == words


@pytest.mark.parametrize(
    "value",
    [object(), [1, object()], (Tensor(), (2, object())), {"deep": [{"deeper": object()}]}],
)
def test_what_cannot_travel_is_named_at_any_depth(value):
    assert foreign(encode(value, is_tensor, [])) == "object"


def test_the_first_foreign_part_is_the_one_named():
    assert foreign(encode([{1, 2}, object()], is_tensor, [])) == "set"
