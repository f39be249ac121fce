"""Where a store is, as users say it. A password is used, and nothing that can be read afterwards has it."""

from pathlib import Path

import pytest

from kernelwright.store import ENVIRONMENT, Place, StoreError

SECRET = "open:sesame"
QUOTED = "open%3Asesame"


def test_what_has_no_scheme_is_a_file() -> None:
    assert Place.at("runs.db").path == Place.at(Path("runs.db")).path == Path("runs.db")
    assert str(Place.at("out/runs.db")) == "out/runs.db"
    assert Place.at("runs.db").identity == Place.at(Path.cwd() / "runs.db").identity


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_an_address_is_said_again_as_one_that_can_be_pasted(scheme: str) -> None:
    place = Place.at(f"{scheme}://me@example.org:5433/runs?sslmode=require")
    assert str(place) == "postgresql://me@example.org:5433/runs?sslmode=require"
    assert Place.at(str(place)) == place
    assert place.path is None


def test_the_folder_of_a_socket_stays_readable() -> None:
    said = "postgresql://me@/runs?host=/var/run/postgresql&port=5433"
    assert str(Place.at(said)) == said


@pytest.mark.parametrize(
    "said",
    [
        f"postgresql://me:{QUOTED}@example.org/runs",
        f"postgresql://me@example.org/runs?password={QUOTED}",
        f"postgresql://me@example.org/runs?sslpassword={QUOTED}",
    ],
)
def test_a_password_is_kept_and_never_shown(said: str) -> None:
    place = Place.at(said)
    for shown in (str(place), repr(place), place.identity, f"{place}"):
        assert "sesame" not in shown
    assert str(place) == "postgresql://me@example.org/runs"
    assert place.url is not None
    assert SECRET in (place.url.password, *place.url.query.values())


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("mysql://me:sesame@example.org/runs", "neither a file nor on PostgreSQL"),
        ("sqlite:///runs.db", "neither a file nor on PostgreSQL"),
        ("postgresql://me:sesame@example.org:port/runs", "cannot be read as an address"),
        ("postgresql://me:sesame@example.org", "names no database"),
        ("redis://example.org/?password=sesame", "neither a file nor on PostgreSQL"),
    ],
)
def test_what_is_no_place_is_said_without_its_password(said: str, what: str) -> None:
    with pytest.raises(StoreError, match=what) as caught:
        Place.at(said)
    assert "sesame" not in str(caught.value)
    assert "postgresql://USER@HOST/DATABASE" in caught.value.fix


def test_a_command_that_was_printed_finds_its_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Place.at(f"postgresql://me:{QUOTED}@example.org/runs")
    monkeypatch.setenv(ENVIRONMENT, f"postgresql://me:{QUOTED}@example.org/runs")
    assert Place.at(str(known)) == known
    other = Place.at("postgresql://me@example.org/others")
    assert other.url is not None
    assert other.url.password is None


def test_what_the_environment_says_wrongly_is_no_matter_where_a_place_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "mysql://me:sesame@example.org/runs")
    assert str(Place.at("postgresql://me@example.org/runs")) == "postgresql://me@example.org/runs"
