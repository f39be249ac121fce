"""A store with a run in it, on both databases, and records that differ in a number only."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.store import Answered, Asked, Birth, Candidate, Judged, Place, Run, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where there is no store yet."""
    return Place.at(tmp_path / "runs.db" if request.param == "sqlite" else request.getfixturevalue("database"))


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    with Store(place) as store:
        yield store


@pytest.fixture
def run(store: Store) -> Run:
    return begin(store)


def begin(store: Store, task: str = "t1") -> Run:
    return store.begin_run(task=task, wire={"name": task}, settings={"seed": 1}, versions={}, machine={"cpu": "x"})


def asked(run: str, number: int, **more: Any) -> Asked:
    return Asked(run=run, id=f"q{number}", kind="draft", backend="cpp", prompt=f"prompt {number}", **more)


def answered(run: str, number: int, text: str = "", dollars: float | None = 0.5) -> Answered:
    return Answered(
        run=run,
        request=f"q{number}",
        text=text or f"reply {number}",
        model="m",
        tokens_in=10,
        tokens_out=20,
        dollars=dollars,
        seconds=1.0,
        finish="stop",
    )


def candidate(number: int, source: str = "") -> Candidate:
    text = source or f"source {number}"
    return Candidate(hash=hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(), source=text, backend="cpp")


def birth(run: str, number: int, **more: Any) -> Birth:
    return Birth(run=run, candidate=candidate(number).hash, request=f"q{number}", **more)


def judged(run: str, number: int, *, job: str = "", status: str = "CORRECT", **more: Any) -> Judged:
    verdict = {"status": status, "accepted": status == "CORRECT", "seconds": {"total": 2.0}, "number": number}
    given = {"task": "t1", "device": "cpu", "judge": "1", **more}
    return Judged(run=run, job=job or f"j{number}", candidate=candidate(number).hash, verdict=verdict, **given)
