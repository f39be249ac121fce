"""The searches that come along as recordings: each is played again, choice by choice, to the end it came to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.store import Records, State

RECORDINGS = sorted((Path(__file__).parents[2] / "examples" / "replays").glob("*.db"))


def test_there_are_recordings() -> None:
    assert len(RECORDINGS) >= 6


@pytest.mark.parametrize("store", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_search_comes_to_the_same_end(store: Path, invoke) -> None:
    before = store.read_bytes()
    result = invoke("replay", "2026", "--store", store)
    assert result.exit_code == 0, result.output
    assert "the same end as recorded" in result.output
    assert store.read_bytes() == before


@pytest.mark.parametrize("store", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_holds_ten_answers_a_winner_and_nothing_of_the_machine_it_was_made_on(store: Path) -> None:
    with Records(store) as records:
        (run,) = records.runs()
        assert run.state is State.FINISHED
        assert sum(1 for _ in records.replies(run.id)) >= 10
        told = records.final(run.id)
        assert told is not None
        assert told["candidate"]
    assert not re.search(rb"/(home|root|Users)/", store.read_bytes())
