"""A long run needs no more memory than a short one."""

import tracemalloc
from typing import Any

import pytest
from sqlalchemy import Table, insert

from kernelwright.store import Place, Store
from kernelwright.store import _tables as tables
from kernelwright.store._read import PAGE
from tests.store.conftest import answered, asked, begin, birth, candidate, judged

MANY = 5_000
PAGE_OF_TEXT = "x" * 4_000
SUMMARY = {"status": "CORRECT", "accepted": True, "seconds": 1.0}


def _fill(store: Store, run: str, numbers: range) -> None:
    """Many rows at once: through the verbs it would take a minute."""
    rows: dict[Table, list[dict[str, Any]]] = {
        tables.requests: [vars(asked(run, number)) for number in numbers],
        tables.replies: [vars(answered(run, number, f"{number} {PAGE_OF_TEXT}")) for number in numbers],
        tables.candidates: [vars(candidate(number)) for number in numbers],
        tables.births: [vars(birth(run, number)) for number in numbers],
        tables.verdicts: [{**vars(judged(run, number)), **SUMMARY} for number in numbers],
    }
    with store._writing() as connection:
        for table, values in rows.items():
            connection.execute(insert(table), [{name: row[name] for name in row if name != "seq"} for row in values])


def _read_everything(store: Store, run: str) -> int:
    """The most memory that reading all of a run took at one moment."""
    tracemalloc.start()
    try:
        assert not list(store.unanswered(run))
        number = sum(1 for _ in zip(store.requests(run), store.replies(run), store.verdicts(run), strict=True))
        births = enumerate(store.births(run))
        assert number == sum(1 for index, birth in births if index % 20 or store.candidate(birth.candidate))
        store.spent(run)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_reading_five_thousand_candidates_takes_the_memory_of_two_hundred(place: Place) -> None:
    with Store(place) as store:
        run = begin(store).id
        _fill(store, run, range(200))
        _read_everything(store, run)  # what is loaded once and kept
        few = _read_everything(store, run)
        _fill(store, run, range(200, MANY))
        many = _read_everything(store, run)
    assert many < 2 * few  # with all rows in memory, twenty times as much and more
    assert many < 10 * PAGE * len(PAGE_OF_TEXT)
