"""Broken kernels: who is repaired next, how often, and who is forgotten."""

import pytest

from kernelwright.archive import ArchiveError, RepairPool
from kernelwright.archive._repair_pool import ATTEMPTS, DEEPEST, HALF_LIFE, MOST


def pool_of(*promises: float) -> RepairPool:
    pool = RepairPool()
    for number, promise in enumerate(promises):
        pool.add(f"b{number}", promise, None, 0)
    return pool


def order(pool: RepairPool) -> list[str]:
    return [broken.candidate for broken in pool]


def test_the_most_promising_is_repaired_first():
    assert pool_of(0.2, 0.9, 0.5).next().parent == "b1"


def test_of_equals_the_newest_is_repaired_first():
    assert order(pool_of(0.5, 0.5, 0.5)) == ["b2", "b1", "b0"]
    assert order(pool_of(0.0, 0.0)) == ["b1", "b0"]


def test_promise_fades_with_age():
    pool = pool_of(0.9)
    for number in range(2 * HALF_LIFE):
        pool.add(f"later{number}", 0.0, None, 0)
    pool.add("fresh", 0.3, None, 0)
    assert order(pool)[:2] == ["fresh", "b0"]


def test_an_attempt_halves_what_is_left_of_it():
    pool = pool_of(0.5, 0.8)
    pool.tried("b1", mended=False)
    assert order(pool) == ["b0", "b1"]


def test_each_is_repaired_a_limited_number_of_times():
    pool = pool_of(0.5)
    for _ in range(ATTEMPTS):
        assert pool.next().parent == "b0"
        pool.tried("b0", mended=False)
    assert pool.next() is None


def test_what_was_mended_leaves():
    pool = pool_of(0.5)
    pool.tried("b0", mended=True)
    assert len(pool) == 0


def test_what_is_being_repaired_is_left_alone():
    pool = pool_of(0.5, 0.8)
    assert pool.next({"b1"}).parent == "b0"
    assert pool.next({"b0", "b1"}) is None


def test_a_line_that_stays_broken_is_given_up():
    pool, depths = pool_of(0.5), []
    while (repair := pool.next()) is not None:
        depths.append(repair.depth)
        pool.add(f"child {len(depths)}", 0.5, repair.asked, repair.depth + 1)
        pool.tried(repair.parent, mended=False)
    assert max(depths) == DEEPEST - 1
    assert len(depths) == sum(ATTEMPTS**deep for deep in range(1, DEEPEST + 1))


def test_the_pool_is_bounded_and_forgets_the_least_promising():
    pool = pool_of(0.01, *[0.9] * MOST)
    assert len(pool) == MOST
    assert "b0" not in order(pool)


def test_the_reason_is_a_sentence():
    pool = pool_of(0.2, 0.8)
    pool.tried("b0", mended=False)
    assert pool.next().why == (
        "The most promising of 2 broken kernels: it came 80% of the way, and this is attempt 1 of 2 to repair it."
    )


@pytest.mark.parametrize("promise", [-0.1, 1.1, float("nan")])
def test_a_promise_lies_between_nothing_and_all_but_right(promise):
    with pytest.raises(ArchiveError, match=r"must lie between 0 \(no code\) and 1"):
        pool_of(promise)
