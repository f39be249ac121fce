"""Whole searches with the simulated model: they can be repeated, and the ways differ as they should."""

from pathlib import Path

import pytest

from kernelwright.report import compare
from kernelwright.store import Records
from tests.simulated import FAMILIES
from tests.simulated.search import search, true_course

FIRST_SEED, SEEDS = 400, 10


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
@pytest.mark.parametrize(("family", "other", "evaluations"), [("matmul", "best-of-n", 60), ("linear", "refine", 80)])
def test_the_archive_ends_ahead_of_drafts_and_where_ways_mislead_of_one_line(
    tmp_path: Path, family: str, other: str, evaluations: int
) -> None:
    """With the first ten of the seeds of docs/compare.md, which says how sure each difference is over a hundred."""
    courses = []
    for method in ("map-elites", other):
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            store = tmp_path / f"{method}-{seed}.db"
            search(FAMILIES[family], store, method=method, seed=seed, evaluations=evaluations)
            courses.append(true_course(FAMILIES[family], store))
    (gap,) = compare(courses, ("method",), whole=True).gaps
    assert gap.final.low is not None
    assert gap.final.low > 0
    assert gap.area.value > 0
