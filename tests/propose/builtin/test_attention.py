"""Attention as one kernel: when two products and what is between them are one, and what a mask spares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.judge import Judge
from kernelwright.propose.builtin import Builtin, Genome
from kernelwright.propose.builtin._attended import AttentionKernel, attended
from kernelwright.propose.builtin._candidate import candidate
from kernelwright.propose.builtin._capture import Graph, Node, Source
from kernelwright.propose.builtin._genome import CHOICES
from kernelwright.propose.builtin._kernels import Kernel, plan
from kernelwright.propose.builtin._lower import lower
from kernelwright.propose.builtin._model import Written
from tests.propose.builtin.references import reference

SHAPE = (2, 3, 37, 20)
SCORES = (*SHAPE[:-1], SHAPE[-2])
TOKENS = SHAPE[-2]


def node(name: str, op: str, *arguments: object, shape: tuple[int, ...] = SCORES, dtype: str = "float32") -> Node:
    given = tuple({"node": one} if isinstance(one, str) else one for one in arguments)
    return Node(name, f"aten.{op}", given, {}, shape, dtype)


def mask(slack: int) -> list[Node]:
    """Scores of what lies `slack` or more places ahead are minus infinity."""
    square = (TOKENS, TOKENS)
    return [
        node("column", "arange.start_step", 0, TOKENS, 1, shape=(TOKENS,), dtype="int64"),
        node("row", "unsqueeze.default", "column", -1, shape=(TOKENS, 1), dtype="int64"),
        node("ahead", "sub.Tensor", "column", "row", shape=square, dtype="int64"),
        node("hidden", "ge.Scalar", "ahead", slack, shape=square, dtype="bool"),
        node("masked", "where.ScalarSelf", "hidden", {"number": "-inf"}, "scaled"),
    ]


def graph(slack: int | None = None, outputs: tuple[str, ...] = ("found",)) -> Graph:
    """Queries, keys and values in, one operator after the other; `outputs`: what is returned."""
    batch = SHAPE[0] * SHAPE[1]
    flat, square = (batch, *SHAPE[2:]), (batch, TOKENS, TOKENS)
    seen = "scaled" if slack is None else "masked"
    nodes = [
        node("turned", "permute.default", "x1", [0, 1, 3, 2], shape=(*SHAPE[:2], SHAPE[3], SHAPE[2])),
        node("queries", "view.default", "x0", list(flat), shape=flat),
        node("keys", "view.default", "turned", [batch, SHAPE[3], TOKENS], shape=(batch, SHAPE[3], TOKENS)),
        node("product", "bmm.default", "queries", "keys", shape=square),
        node("scores", "view.default", "product", list(SCORES)),
        node("scaled", "mul.Tensor", "scores", 0.25),
        *(mask(slack) if slack is not None else []),
        node("top", "amax.default", seen, [-1], True, shape=(*SCORES[:-1], 1)),
        node("below", "sub.Tensor", seen, "top"),
        node("powers", "exp.default", "below"),
        node("total", "sum.dim_IntList", "powers", [-1], True, shape=(*SCORES[:-1], 1)),
        node("weights", "div.Tensor", "powers", "total"),
        node("flat", "view.default", "weights", list(square), shape=square),
        node("values", "view.default", "x2", list(flat), shape=flat),
        node("summed", "bmm.default", "flat", "values", shape=flat),
        node("found", "view.default", "summed", list(SHAPE), shape=SHAPE),
    ]
    sources = tuple(Source(f"x{place}", "USER_INPUT", None, SHAPE, "float32", place=place) for place in range(3))
    return Graph(sources, tuple(nodes), outputs, "", (SHAPE,) * 3, ())


def kernels(given: Graph) -> list[Kernel]:
    program = lower(given)
    return attended(plan(program, Genome()), set(program.outputs))


def text(given: Graph, genome: Genome) -> str:
    return candidate("attention", [Written(given, lower(given))], genome)


def test_two_products_and_a_softmax_are_one_kernel_if_all_is_fused() -> None:
    (found,) = kernels(graph())
    assert isinstance(found, AttentionKernel)
    assert text(graph(), Genome()).count('extern "C"') == 1
    assert text(graph(), Genome(fuse="reductions")).count('extern "C"') > 2


def test_weights_that_are_returned_are_written_by_kernels_of_their_own() -> None:
    assert not any(isinstance(one, AttentionKernel) for one in kernels(graph(outputs=("found", "flat"))))


@pytest.mark.parametrize("slack", [1, 5])
def test_how_far_rows_see_is_read_off_their_mask(slack: int) -> None:
    (found,) = kernels(graph(slack))
    assert isinstance(found, AttentionKernel)
    assert found.slack == slack


def test_a_row_that_sees_nothing_is_not_cut_short() -> None:
    (found,) = kernels(graph(slack=0))
    assert isinstance(found, AttentionKernel)
    assert found.slack is None


def test_what_a_mask_hides_is_left_out_or_not_as_the_genome_says() -> None:
    assert "const int64_t end = seen < keys" in text(graph(1), Genome())
    assert "constexpr int64_t end = keys" in text(graph(1), Genome(skip=False))
    assert "constexpr int64_t end = keys" in text(graph(), Genome())


def test_scores_are_rounded_before_anything_is_taken_off_them() -> None:
    """Else a compiler joins the scale with the difference in one pass and not in another."""
    for fuse in ("all", "reductions", "none"):
        body = text(graph(), Genome(fuse=fuse))
        assert "- rounded(" in body or "rounded(v" in body.split('extern "C"', 1)[1]


@pytest.mark.long
@pytest.mark.parametrize("gene", CHOICES)
def test_attention_is_right_for_every_value_of_every_gene(gene: str, judge: Judge, tmp_path: Path) -> None:
    task = reference("causal attention", tmp_path)
    cases = Builtin().understand(task)
    for value in CHOICES[gene]:
        verdict = judge.judge(task, candidate(task.name, cases, replace(Genome(), **{gene: value})), timed=False)
        assert verdict.accepted, f"{gene}={value}: {verdict.message}"
    judge.forget(task)
