"""Constraints mean what the same text means in Python, as far as they go; nothing else gets in."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tuning import ExpressionError, parse

NAMES = ("A", "B", "C")
values = st.integers(-40, 40)
atoms = st.one_of(st.sampled_from(NAMES), st.integers(0, 99).map(str))


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner)
    return st.one_of(
        two.map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        inner.map(lambda one: f"-{one}"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} < {p[2]} else {p[0]})"),
    )


numbers = st.recursive(atoms, larger, max_leaves=8)
comparisons = st.tuples(numbers, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), numbers).map(" ".join)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda one: f"(not {one})"),
    ),
    max_leaves=4,
)


@given(conditions, values, values, values)
def test_a_constraint_holds_where_python_says_so(text, a, b, c):
    names = dict(zip(NAMES, (a, b, c), strict=True))
    try:
        expected = eval(text, {"min": min, "max": max}, names)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="zero"):
            parse(text).holds(names)
        return
    assert parse(text).holds(names) is expected


@given(numbers)
def test_the_names_of_an_expression_are_those_it_needs(text):
    expression = parse(text)
    assert expression.names == {name for name in NAMES if name in text}


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_a_sentence(text):
    with contextlib.suppress(ExpressionError):
        assert parse(text).text == text.strip()


NOT_ARITHMETIC = {
    "__import__('os')": "no function",
    "A.real > 1": "more than arithmetic",
    "A[0] > 1": "more than arithmetic",
    "(lambda: 1)() > 0": "more than arithmetic",
    "[x for x in (1, 2)]": "more than arithmetic",
    "(A := 3) > 1": "more than arithmetic",
    "max(*A)": "more than arithmetic",
    "max(A, key=B)": "more than arithmetic",
    "A if": "cannot be read",
    "A && B": "written 'and'",
    "A > 1 || B > 1": "written 'or'",
    "!A": "written 'not'",
    "A is B": "only ==",
    "A | B": "only + -",
    "~A > 1": "not known",
    "cdiv(A)": "1 arguments",
    "1j > 0": "neither a number",
    "A" * 401: "characters long",
}


@pytest.mark.parametrize("text", NOT_ARITHMETIC, ids=lambda text: text[:20])
def test_what_is_more_than_arithmetic_is_refused_with_a_sentence(text):
    with pytest.raises(ExpressionError, match=NOT_ARITHMETIC[text].replace("+", r"\+")):
        parse(text)


WITHOUT_VALUE = {
    "A ** 1000 > 1": "exponent",
    "9 ** 64 > 1": "too large",
    "1e308 * 10 > 1": "too large",
    "(0 - 8) ** 0.5 > 1": "not a number",
    "A + 1": "neither true nor false",
    "A and B": "neither true nor false",
    "'x' * 1000000000 == 'x'": "not a number",
    "'x' < 'y'": "not a number",
    "A / 0 > 1": "divides by zero",
}


@pytest.mark.parametrize("text", WITHOUT_VALUE)
def test_an_expression_without_a_value_says_why(text):
    with pytest.raises(ExpressionError, match=WITHOUT_VALUE[text]):
        parse(text).holds({"A": 2, "B": 3})


def test_words_truths_and_rounding_up_are_known():
    names = {"ORDER": "rows", "FAST": True, "N": 10}
    assert parse("ORDER == 'rows' and FAST == true and cdiv(N, 4) == 3 and 1 < N <= 10").holds(names)
