"""Secret seeds: foretold by nobody, come to again by whoever knows the master."""

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._prepared import Seeds

MASTERS = st.integers(0, 2**62 - 1)


def first(seeds: Seeds, number: int) -> list[int]:
    return [seeds.next() for _ in range(number)]


@given(MASTERS)
def test_the_same_master_gives_the_same_sequence(master):
    assert first(Seeds(master), 20) == first(Seeds(master), 20)


@given(MASTERS, MASTERS)
def test_another_master_gives_another_sequence(one, other):
    if one != other:
        assert first(Seeds(one), 5) != first(Seeds(other), 5)


@given(MASTERS)
def test_a_neighbouring_master_shares_no_seed(master):
    assert not set(first(Seeds(master), 50)) & set(first(Seeds(master + 1), 50))


def test_no_seed_comes_twice():
    assert len(set(first(Seeds(1), 10_000))) == 10_000


def test_masters_are_drawn_where_none_is_given():
    assert len({Seeds().master for _ in range(20)}) == 20


@given(MASTERS)
def test_seeds_fit_where_torch_takes_them(master):
    assert all(0 <= seed < 2**63 for seed in first(Seeds(master), 20))
