"""The space holds exactly the configurations that satisfy the constraints, and says why it is empty."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.tuning import Space, TuningError, limits_here, read_template
from tests.tuning.candidates import PLAIN

LIMITS = {"CORES": 2, "L1_BYTES": 32768}


def space(*lines: str, limits: dict[str, int] | None = None) -> Space:
    names = [line.split()[0] for line in lines if "tune:" in line]
    source = "\n".join([*lines, f"print({', '.join(names)})"]) + "\n"
    return Space(read_template(source), LIMITS if limits is None else limits)


def test_constraints_rule_combinations_out():
    found = Space(read_template(PLAIN), LIMITS)
    assert found.combinations == 24
    assert all(values["TILE"] * values["UNROLL"] <= 32 for values in map(found.values, found.configurations))
    assert len(found) == 2 * (4 + 4 + 2)


sets = st.lists(st.integers(1, 64), min_size=1, max_size=5, unique=True)


@given(sets, sets, sets, st.integers(1, 4096), st.integers(1, 8))
def test_a_space_is_the_product_less_what_a_constraint_forbids(a, b, c, most, step):
    lines = [f"{name} = {each[0]}  # tune: {', '.join(map(str, each))}" for name, each in zip("ABC", (a, b, c))]  # noqa: B905
    constraints = [f"A * B <= {most}", f"C % {step} == 0 or A < C"]
    expected = [p for p in itertools.product(a, b, c) if p[0] * p[1] <= most and (p[2] % step == 0 or p[0] < p[2])]
    declared = [*lines, *(f"# tune where: {text}" for text in constraints)]
    if (a[0], b[0], c[0]) not in expected:
        with pytest.raises(TuningError, match="violate"):
            space(*declared)
        return
    found = space(*declared)
    assert [tuple(found.values(one).values()) for one in found.configurations] == expected
    assert all(one in found for one in found.configurations)


def test_a_configuration_of_other_names_or_values_is_not_in_it():
    one, other = space("A = 1  # tune: 1, 2"), space("A = 3  # tune: 3, 4")
    assert one.configurations[0] not in other
    assert space("B = 1  # tune: 1, 2").configurations[0] not in one


def test_a_limit_of_the_machine_rules_out_before_anything_is_written():
    found = space("TILE = 64  # tune: 32, 64, 128", "# tune where: TILE * TILE * 4 <= L1_BYTES")
    assert [str(one) for one in found.configurations] == ["TILE=32", "TILE=64"]


def test_defaults_that_only_a_limit_rules_out_are_no_fault():
    found = space("TILE = 128  # tune: 32, 64, 128", "# tune where: TILE * TILE * 4 <= L1_BYTES")
    assert str(found.starting_point) == "TILE=32"


BAD = {
    "one impossible": (["A = 1  # tune: 1, 2", "# tune where: A * CORES > 9"], "holds for no choice"),
    "says the limit": (["A = 1  # tune: 1, 2", "# tune where: A * CORES > 9"], "CORES is 2"),
    "two exclude each other": (
        [
            "A = 1  # tune: 1, 2",
            "B = 1  # tune: 1, 2",
            "# tune where: A > CORES - 1",
            "# tune where: B >= 1",
            "# tune where: A < CORES",
        ],
        "'A > CORES - 1' and 'A < CORES' hold together for no",
    ),
    "defaults": (["A = 1  # tune: 1, 2", "# tune where: A > 1"], "values as written, A=1, violate"),
    "unknown limit": (["A = 1  # tune: 1, 2", "# tune where: A < SMEM_BYTES"], "unknown on this machine"),
    "no answer": (["A = 1  # tune: 0, 1", "# tune where: 8 % A == 0"], "has no answer for A=0"),
    "too large": ([f"{name} = 1  # tune: 1..99" for name in "ABCD"], "96,059,601 combinations"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_space_is_one_sentence(name):
    lines, words = BAD[name]
    with pytest.raises(TuningError) as caught:
        space(*lines)
    assert words in caught.value.what


def test_this_machine_has_cores_and_vectors():
    here = limits_here()
    assert here["CORES"] >= 1
    assert here["VECTOR_BYTES"] in (16, 32, 64)
    assert all(size > 0 for size in here.values())
