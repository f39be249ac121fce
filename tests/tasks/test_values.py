import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tasks import InputSpec, TaskError
from kernelwright.tasks._values import Values, parse_values

FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(min_value=1e-6, max_value=1e6)
INT64 = st.integers(-(2**63), 2**63 - 1)


def two_sorted(numbers):
    return st.lists(numbers, min_size=2, max_size=2, unique=True).map(sorted).map(tuple)


DRAWS = st.one_of(
    st.sampled_from(["normal", "zeros", "ones", "permutation"]).map(Values),
    st.tuples(FINITE, POSITIVE).map(lambda a: Values("normal", a)),
    two_sorted(FINITE).map(lambda a: Values("uniform", a)),
    two_sorted(INT64).map(lambda a: Values("integers", a)),
    st.tuples(POSITIVE).flatmap(lambda a: st.sampled_from(["lognormal", "pareto"]).map(lambda k: Values(k, a))),
    st.tuples(st.floats(0, 1)).map(lambda a: Values("bernoulli", a)),
    st.tuples(FINITE).map(lambda a: Values("constant", a)),
)


@given(DRAWS)
def test_every_draw_reads_back_as_written(values):
    assert parse_values(str(values)) == values


def test_spaces_and_arithmetic_are_read():
    assert parse_values(" integers( 0 , 2**10 ) ") == Values("integers", (0, 1024))


def test_arguments_may_name_dims():
    assert parse_values("integers(0, classes - 1)", {"classes": 10}) == Values("integers", (0, 9))
    with pytest.raises(TaskError, match="Did you mean 'classes'"):
        parse_values("integers(0, clases)", {"classes": 10})


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("norml", "Did you mean 'normal'"),
        ("uniform", "uniform(lo, hi)"),
        ("uniform(1)", "uniform(lo, hi)"),
        ("zeros(3)", "Write zeros"),
        ("normal(1)", "normal(mean, std)"),
        ("normal(0, -1)", "std must not be negative"),
        ("uniform(2, 1)", "lo must not exceed hi"),
        ("lognormal(-1)", "sigma must not be negative"),
        ("pareto(0)", "alpha must be positive"),
        ("integers(3, 3)", "lo below hi"),
        ("integers(0, 1.5)", "integers"),
        ("integers(0, 2**63)", "64-bit"),
        ("bernoulli(2)", "between 0 and 1"),
        ("constant('a')", "not a finite number"),
        ("constant(1e999)", "not a finite number"),
        ("normal(0, std=1)", "cannot be read"),
        ("normal(", "cannot be read"),
        ("a.b", "cannot be read"),
        ("constant(f(1))", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_draws_that_make_no_sense_say_why(text, hint):
    with pytest.raises(TaskError) as caught:
        parse_values(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("dtype", "values", "shape"),
    [
        ("int64", "normal", (4,)),
        ("int32", "uniform(0, 1)", (4,)),
        ("bool", "integers(0, 2)", (4,)),
        ("bool", "constant(1)", (4,)),
        ("int8", "integers(0, 129)", (4,)),
        ("uint8", "constant(-1)", (4,)),
        ("int16", "constant(0.5)", (4,)),
        ("int8", "permutation", (129,)),
        ("float32", "permutation", ()),
    ],
)
def test_draws_that_the_input_cannot_hold_name_the_input(dtype, values, shape):
    with pytest.raises(TaskError, match="input 'index'"):
        InputSpec("index", shape, dtype, values)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int8", "integers(-128, 128)"),
        ("uint8", "integers(0, 256)"),
        ("int8", "permutation"),
        ("bool", "ones"),
    ],
)
def test_draws_at_the_edge_of_a_dtype_are_fine(dtype, values):
    assert InputSpec("x", (128,), dtype, values).values == values
