"""What a candidate's process says of its result is a claim: whatever it is, it ends in a verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge import Status
from kernelwright.judge._contestant import Contestant
from kernelwright.judge._expected import Expected
from kernelwright.judge._process import Answer
from kernelwright.judge._status import Rejection
from tests.judge.test_memory import GOOD, JSON
from tests.judge.test_nulls import RANDOM, output

TENSOR = {"t": "tensor", "i": 0}
EXPECTED = Expected(TENSOR, [output(RANDOM[0])])
KINDS = st.sampled_from(["tensor", "value", "list", "tuple", "dict", "foreign", "other"])
TREES = st.fixed_dictionaries({"t": KINDS | JSON}, optional={"i": JSON, "v": JSON, "items": JSON, "type": JSON})


def checked(tree, leaves, early=()) -> Status:
    """The status that this description of a result earns. No process is behind it: none is asked."""
    with pytest.raises(Rejection) as caught:
        Contestant.check_structure(Contestant.__new__(Contestant), Answer(tree, leaves, 0.0, early), EXPECTED)
    assert caught.value.message
    return caught.value.status


FORGED = {
    "a value without a value": {"t": "value"},
    "a dict with keys that cannot be keys": {"t": "dict", "items": [[[], {"t": "tensor", "i": 0}]]},
    "a list without items": {"t": "list"},
    "a list of a number": {"t": "list", "items": 5},
    "a dict of single things": {"t": "dict", "items": [["key"]]},
    "no kind": {},
    "no tree": [],
    "nothing": None,
    "an unknown kind": {"t": "hologram"},
}


@pytest.mark.parametrize("tree", FORGED.values(), ids=FORGED)
def test_a_forged_outline_is_rejected(tree):
    assert checked(tree, [GOOD]) in (Status.WRONG_STRUCTURE, Status.TAMPER)


@pytest.mark.parametrize("leaves", [5, None, {}, [], [None], [{}], "x", [GOOD, GOOD], [{**GOOD, "ptr": "here"}]])
def test_forged_tensors_are_tampering(leaves):
    assert checked(TENSOR, leaves) is Status.TAMPER


@given(tree=JSON | TREES, leaves=JSON)
def test_whatever_is_said_of_a_result_ends_in_a_rejection(tree, leaves):
    assert checked(tree, leaves) in (Status.WRONG_STRUCTURE, Status.TAMPER)
