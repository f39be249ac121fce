"""Genomes: found again in a kernel's text, changed a little, joined from two."""

from __future__ import annotations

import random
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.propose.builtin._genome import CHOICES, Genome, crossed, drawn, mutated, read, read_all

seeds = st.integers(0, 1 << 32).map(random.Random)


def test_the_usual_genome_has_the_first_of_every_choice() -> None:
    assert asdict(Genome()) == {name: values[0] for name, values in CHOICES.items()}


@given(seeds)
def test_a_genome_is_found_again_in_a_text(chance: random.Random) -> None:
    genome = drawn(chance)
    assert read(f'"""A kernel."""\n{genome.header}\nimport torch\n') == genome


def test_who_else_writes_has_no_genome() -> None:
    assert read("import torch\n") is None
    assert read(Genome().header.replace("width=16", "width=17")) is None
    assert read(Genome().header.replace(" unroll=4", "")) is None


def test_all_kernels_of_a_text_are_seen() -> None:
    shown = [Genome(width=8), Genome(online=True)]
    assert read_all("\n".join(f"text\n{genome.header}\ntext" for genome in shown)) == shown


@given(seeds)
def test_mutation_changes_one_to_three_genes(chance: random.Random) -> None:
    parent = drawn(chance)
    child = mutated(parent, chance)
    assert 1 <= sum(asdict(parent)[name] != asdict(child)[name] for name in CHOICES) <= 3


@given(seeds)
def test_crossing_takes_every_gene_from_either(chance: random.Random) -> None:
    one, other = drawn(chance), drawn(chance)
    child = asdict(crossed(one, other, chance))
    assert all(child[name] in (asdict(one)[name], asdict(other)[name]) for name in CHOICES)
