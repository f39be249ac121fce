"""Everything the synthesiser knows how to write, judged: by the usual genome and by others drawn at random."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import kernelwright
from kernelwright.judge import Judge
from kernelwright.propose.builtin import Builtin, Genome
from kernelwright.propose.builtin._candidate import candidate
from kernelwright.propose.builtin._genome import drawn, read
from kernelwright.tasks import load_task
from tests.propose.builtin.references import REFERENCES, reference

DRAWN = 2
BIAS_GELU = "everyday:bias_gelu"


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_the_usual_kernels_are_right(name: str, judge: Judge, tmp_path: Path) -> None:
    _are_right(name, [Genome()], judge, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_are_right_whatever_the_genome(name: str, judge: Judge, tmp_path: Path) -> None:
    others = [drawn(random.Random(f"{name} {number}"), Genome) for number in range(DRAWN)]
    _are_right(name, [replace(other, functions="exact") for other in others], judge, tmp_path)


def _are_right(name: str, genomes: list[Genome], judge: Judge, folder: Path) -> None:
    task = reference(name, folder)
    cases = Builtin().understand(task)
    for genome in genomes:
        verdict = judge.judge(task, candidate(name, cases, genome), timed=False)
        assert verdict.accepted, f"{genome}: {verdict.message}"
    judge.forget(task)


@pytest.mark.slow
@pytest.mark.parametrize("fuse", ["all", "reductions", "none"])
def test_a_softmax_of_extreme_scores_is_right_however_its_kernels_are_cut(
    fuse: str, judge: Judge, tmp_path: Path
) -> None:
    """One score towers above the others, so its weight is 1: a sum that was rounded otherwise than its terms shows."""
    _are_right("steep softmax", [Genome(fuse=fuse), Genome(fuse=fuse, online=True)], judge, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("width", [16, 8, 4, 32])
def test_results_that_go_past_the_caches_arrive(width: int, judge: Judge, tmp_path: Path) -> None:
    """Rows of 48 begin where a vector can be stored whole, those of 131 only now and then."""
    for name in ("softmax", "attention to fewer keys, turned", "sum of columns"):
        _are_right(name, [Genome(stores="streamed", width=width)], judge, tmp_path)


@pytest.mark.slow
def test_a_search_finds_a_kernel_without_a_model(tmp_path: Path) -> None:
    task = load_task(BIAS_GELU)
    found = kernelwright.optimize(task, model="builtin", evaluations=3, in_flight=1, store=tmp_path / "runs.db")
    assert found.source is not None, found.reason
    assert read(found.source, Genome) is not None
