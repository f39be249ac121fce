"""What the synthesiser writes in SYCL: as text anywhere, compiled and judged on the processor where it is installed."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import kernelwright
from kernelwright import backends
from kernelwright.judge import Judge
from kernelwright.native._signatures import signatures
from kernelwright.propose.builtin import Builtin, SyclGenome
from kernelwright.propose.builtin._genome import drawn, read
from kernelwright.propose.builtin._proposer import LANGUAGES, Desk
from kernelwright.tasks import load_task
from tests.propose.builtin.references import REFERENCES, reference
from tests.sycl import needs_sycl

# One of each family that is written in a way of its own.
FAMILIES = {
    "pointwise": "bias gelu",
    "row by row": "causal softmax",
    "across rows": "sum of columns",
    "whole tensors": "mean squared error",
    "scans": "running sums",
    "scatters": "messages",
    "pooling": "pooling",
    "transposes": "transposed sum",
    "products": "product, bias, gelu",
    "turned products": "linear of three axes",
    "convolutions": "convolution in groups",
    "attention": "attention",
    "found beforehand": "a step of a state",
    "short last axes": "pixels out of channels",
}
# Of these also texts alone are looked at; every gene shows in one of them.
WRITTEN = (
    "bias gelu",
    "causal softmax",
    "mean squared error",
    "product, bias, gelu",
    "swiglu",
    "linear of three axes",
    "a step of a state",
)
# Work-items side by side, rows kept in local memory, teams smaller than a group, both matrices in local memory.
OTHERS = {
    "side by side": SyclGenome(width=1, items=16, keep="none"),
    "vectors": SyclGenome(width=8, items=2, unroll=2, keep="all", online=True, turn=False, beforehand=False),
    "sub-groups": SyclGenome(team="subgroup", subgroup=8, items=32, keep="costly", stack=2, local="both", depth=16),
    "single items": SyclGenome(
        team="item", width=4, items=8, unroll=1, fuse="reductions", parts=4, stack=4, tile_rows=4
    ),
}


Desks = Callable[[str], Desk]


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Desks:
    """Who writes for a reference, which is captured once."""

    @cache
    def desk(name: str) -> Desk:
        task = reference(name, tmp_path_factory.mktemp("tasks"))
        return Desk(task, Builtin().understand(task), LANGUAGES["sycl"])

    return desk


@pytest.mark.parametrize("name", WRITTEN)
def test_every_genome_gives_kernels_that_are_all_launched(name: str, desks: Desks) -> None:
    for number in range(6):
        genome = drawn(random.Random(f"{name} {number}"), SyclGenome)
        text = desks(name).text(genome)
        kernels = signatures(text.split('r"""')[1])
        assert all(found.dimensions == 1 for found in kernels.values())
        assert {kernel for kernel, _, _ in _launches(text)} == set(kernels)
        assert all(whole % group == 0 and whole for _, whole, group in _launches(text))
        assert read(text, SyclGenome) == genome


def _launches(text: str) -> list[tuple[str, int, int]]:
    """The kernels that a candidate launches: over how many work-items, in groups of how many."""
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Subscript(value=ast.Attribute(attr=kernel), slice=sizes)):
                (whole,), (group,) = ast.literal_eval(sizes)
                found.append((kernel, whole, group))
    return found


def test_every_gene_makes_a_difference_somewhere(desks: Desks) -> None:
    moot = set(SyclGenome.choices)
    for desk in map(desks, WRITTEN):
        for gene in sorted(moot):
            base = SyclGenome(team="subgroup") if gene == "subgroup" else SyclGenome()
            base = replace(base, items=16) if gene == "stack" else base
            base = replace(base, local="both") if gene == "depth" else base
            others = (replace(base, **{gene: value}) for value in SyclGenome.choices[gene][1:])
            if any(desk.settled(other) == other for other in others):
                moot.remove(gene)
    assert not moot


def test_a_gene_that_makes_no_difference_has_its_usual_value(desks: Desks) -> None:
    settled = desks("bias gelu").settled(SyclGenome(team="item", depth=16, items=32))
    assert settled == SyclGenome(items=32)


def test_genomes_lie_in_different_cells_of_the_archive(desks: Desks) -> None:
    """Who shares a row, vectors, and local memory are other strategies, and are seen as such."""
    rows, products = desks("causal softmax"), desks("product, bias, gelu")
    teams = [SyclGenome(team=team, width=width, items=16) for team in ("group", "item") for width in (1, 8)]
    texts = [rows.text(genome) for genome in teams]
    texts += [products.text(SyclGenome(local="both"))]
    assert len({backends.describe(text, "sycl").cell for text in texts}) == len(texts)


def judged(desk: Desk, genome: SyclGenome, judge: Judge) -> None:
    verdict = judge.judge(desk.task, desk.text(genome), timed=False)
    assert verdict.accepted, f"{genome}: {verdict.message}"
    judge.forget(desk.task)


@needs_sycl
@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES.values(), ids=FAMILIES)
def test_the_usual_kernels_of_every_family_are_right(name: str, judge: Judge, desks: Desks) -> None:
    judged(desks(name), SyclGenome(), judge)


@needs_sycl
@pytest.mark.long
@pytest.mark.parametrize("genome", [SyclGenome(), *OTHERS.values()], ids=["usual", *OTHERS])
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_are_right(name: str, genome: SyclGenome, judge: Judge, desks: Desks) -> None:
    judged(desks(name), genome, judge)


@needs_sycl
@pytest.mark.slow
def test_a_search_finds_a_sycl_kernel_without_a_model(tmp_path: Path) -> None:
    task = load_task("everyday:bias_gelu")
    found = kernelwright.optimize(
        task, model="builtin", backend="sycl", evaluations=3, in_flight=1, store=tmp_path / "runs.db"
    )
    assert found.source is not None, found.reason
    assert read(found.source, SyclGenome) is not None
