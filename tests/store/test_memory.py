"""A long run needs no more memory than a short one."""

import tracemalloc
from pathlib import Path

import pytest

from kernelwright.store import Store
from kernelwright.store._read import PAGE
from tests.store.conftest import answered, asked, begin, birth, candidate, judged

MANY = 5_000
PAGE_OF_TEXT = "x" * 4_000


def _fill(store: Store, run: str, numbers: range) -> None:
    with store.together():
        for number in numbers:
            store.note_request(asked(run, number))
            store.keep_reply(answered(run, number, f"{number} {PAGE_OF_TEXT}"))
            store.keep_candidate(candidate(number), birth(run, number))
            store.keep_verdict(judged(run, number))


def _read_everything(store: Store, run: str) -> int:
    """The most memory that reading all of a run took at one moment."""
    tracemalloc.start()
    try:
        assert not list(store.unanswered(run))
        number = sum(1 for _ in zip(store.requests(run), store.replies(run), store.verdicts(run), strict=True))
        assert number == sum(1 for birth in store.births(run) if store.candidate(birth.candidate))
        store.spent(run)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_reading_five_thousand_candidates_takes_the_memory_of_two_hundred(path: Path) -> None:
    with Store(path) as store:
        run = begin(store).id
        _fill(store, run, range(200))
        _read_everything(store, run)  # what is loaded once and kept
        few = _read_everything(store, run)
        for first in range(200, MANY, 200):
            _fill(store, run, range(first, first + 200))
        many = _read_everything(store, run)
    assert many < 1.5 * few
    assert many < 10 * PAGE * len(PAGE_OF_TEXT)
