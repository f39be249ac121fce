"""Whole searches with the simulated model: they can be repeated, and the ways differ as they should."""

from pathlib import Path

import pytest

from kernelwright.report import compare
from kernelwright.store import Records
from tests.simulated import FAMILIES
from tests.simulated.search import search, true_course

SEEDS, EVALUATIONS = 10, 60


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    courses = []
    for name in ("one", "other"):
        search(FAMILIES["softmax"], tmp_path / f"{name}.db", method="map-elites", seed=3, evaluations=12)
        courses.append(true_course(FAMILIES["softmax"], tmp_path / f"{name}.db"))
    assert courses[0].steps == courses[1].steps


def test_only_a_steered_search_says_where_to_go(tmp_path: Path) -> None:
    for method in ("map-elites", "refine"):
        store = tmp_path / f"{method}.db"
        found = search(FAMILIES["softmax"], store, method=method, seed=3, evaluations=16)
        with Records(store) as records:
            prompts = [asked.prompt for asked in records.requests(found.run) if asked.kind == "improve"]
        assert prompts
        assert any("## Where to go" in prompt for prompt in prompts) == (method == "map-elites")


@pytest.mark.slow
def test_where_small_steps_mislead_the_archive_is_ahead_of_drafts_and_of_one_line(tmp_path: Path) -> None:
    """On the family that was not used to develop. How sure each difference is stands in docs/compare.md."""
    family, courses = FAMILIES["matmul"], []
    for method in ("map-elites", "best-of-n", "refine"):
        for seed in range(SEEDS):
            store = tmp_path / f"{method}-{seed}.db"
            search(family, store, method=method, seed=seed, evaluations=EVALUATIONS)
            courses.append(true_course(family, store))
    drafts, line = compare(courses, ("method",), whole=True).gaps
    assert drafts.area.low is not None
    assert drafts.area.low > 0
    assert drafts.final.low is not None
    assert drafts.final.low > 0
    assert line.area.value > 0
    assert line.final.value > 0
