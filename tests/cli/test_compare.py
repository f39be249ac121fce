"""`compare`: from stored runs to curves and intervals, and what is said of runs that do not fit."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.simulated import FAMILIES
from tests.simulated.search import search

EVALUATIONS = 6


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four runs: two ways, two seeds each; each in a store of its own."""
    folder = tmp_path_factory.mktemp("runs")
    made = []
    for method in ("map-elites", "best-of-n"):
        for seed in (0, 1):
            made.append(folder / f"{method}-{seed}.db")
            search(FAMILIES["softmax"], made[-1], method=method, seed=seed, evaluations=EVALUATIONS)
    return made


def options(stores: list[Path]) -> list[object]:
    return [part for store in stores for part in ("--store", store)]


def test_ways_are_held_against_each_other_with_an_interval(invoke: Invoke, stores: list[Path]) -> None:
    result = invoke("compare", "all", *options(stores))
    assert result.exit_code == 0, result.output
    assert "up to 6 evaluations" in result.output
    assert "map-elites against" in result.output
    assert "best-of-n" in result.output
    assert "[" in result.output.split("map-elites against")[1]


@pytest.mark.parametrize("budget", ["evaluations", "answers", "tokens", "dollars", "judge-seconds"])
def test_every_budget_has_curves_that_end_where_the_shortest_run_does(
    invoke: Invoke, stores: list[Path], budget: str
) -> None:
    told = json.loads(invoke("compare", "all", *options(stores), "--budget", budget, "--json").output)
    (place,) = told["places"]
    assert told["budget"] == budget
    assert place["points"][-1] == pytest.approx(place["up_to"])
    for way in place["ways"].values():
        assert len(way["curve"]) == len(place["points"])
        assert len(way["runs"]) == 2
    assert told["differences"][0]["area"]["pairs"] == 2


def test_runs_are_found_by_how_they_begin_and_counted_once(invoke: Invoke, stores: list[Path]) -> None:
    told = json.loads(invoke("compare", "all", "--store", stores[0], "--json").output)
    run = told["places"][0]["ways"]["map-elites"]["runs"][0]["run"]
    again = json.loads(invoke("compare", run, run[:-1], *options(stores), "--json").output)
    assert [one["run"] for one in again["places"][0]["ways"]["map-elites"]["runs"]] == [run]


@pytest.mark.parametrize(
    ("arguments", "names", "fix"),
    [
        (["all", "--by", "luck"], ["cannot be compared by 'luck'"], "method"),
        (["all", "--budget", "patience"], ["no budget 'patience'"], "evaluations"),
        (["nosuch"], ["no run 'nosuch'"], "the latest are"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(
    cannot_judge: Callable[..., str], stores: list[Path], arguments: list[str], names: list[str], fix: str
) -> None:
    cannot_judge("compare", *arguments, "--store", stores[0], names=names, fix=fix)


def test_where_no_run_was_made_there_is_none_to_compare(cannot_judge: Callable[..., str], tmp_path: Path) -> None:
    cannot_judge("compare", "all", "--store", tmp_path / "none.db", names=["there is no store"], fix="a run makes one")
