import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tasks._literals import NotPlainError, UnknownNameError, evaluate, literal_text

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
PLAIN = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.lists(inner).map(tuple), max_leaves=8)


@given(PLAIN)
def test_what_is_written_reads_back(value):
    assert evaluate(literal_text(value)) == value


def test_infinities_are_written_as_python_that_runs():
    assert eval(literal_text((float("inf"), [float("-inf")]))) == (float("inf"), [float("-inf")])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1024 * 2", 2048),
        ("2**20", 1 << 20),
        ("-(3 + 4)", -7),
        ("[8] * 3", [8, 8, 8]),
        ("(1, *(2, 3))", (1, 2, 3)),
    ],
)
def test_computes_plain_arithmetic(text, value):
    assert evaluate(text) == value


def test_names_take_the_values_given():
    assert evaluate("2 * rows + 1", {"rows": 4}) == 9
    with pytest.raises(UnknownNameError) as caught:
        evaluate("row", {"rows": 4})
    assert caught.value.name == "row"


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "x.y", "1 / 0", "9**9**9", "'a' * 10", "[0] * 10**9", "*(1,)", "(", "-'a'", "(*3,)"],
)
def test_anything_more_is_refused_at_once(text):
    with pytest.raises(NotPlainError):
        evaluate(text)
