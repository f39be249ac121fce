"""Genomes: found again in a kernel's text, changed a little, joined from two; in every language."""

from __future__ import annotations

import itertools
import random
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.propose.builtin import Genome, SyclGenome, TritonGenome
from kernelwright.propose.builtin._genome import Genes, crossed, drawn, mutated, read, read_all

LANGUAGES: list[type[Genes]] = [Genome, SyclGenome, TritonGenome]
seeds = st.integers(0, 1 << 32).map(random.Random)
languages = st.sampled_from(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_usual_genome_has_the_first_of_every_choice(language: type[Genes]) -> None:
    assert asdict(language()) == {name: values[0] for name, values in language.choices.items()}


@given(seeds, languages)
def test_a_genome_is_found_again_in_a_text(chance: random.Random, language: type[Genes]) -> None:
    genome = drawn(chance, language)
    assert read(f'"""A kernel."""\n{genome.header}\nimport torch\n', language) == genome


def test_who_else_writes_has_no_genome() -> None:
    assert read("import torch\n", Genome) is None
    assert read(Genome().header.replace("width=16", "width=17"), Genome) is None
    assert read(Genome().header.replace(" unroll=4", ""), Genome) is None


def test_a_genome_of_one_language_is_none_of_another() -> None:
    for one, other in itertools.permutations(LANGUAGES, 2):
        assert read(one().header, other) is None


def test_all_kernels_of_a_text_are_seen() -> None:
    shown = [Genome(width=8), Genome(online=True)]
    assert read_all("\n".join(f"text\n{genome.header}\ntext" for genome in shown), Genome) == shown


@given(seeds, languages)
def test_mutation_changes_one_to_three_genes(chance: random.Random, language: type[Genes]) -> None:
    parent = drawn(chance, language)
    child = mutated(parent, chance)
    assert 1 <= sum(asdict(parent)[name] != asdict(child)[name] for name in language.choices) <= 3


@given(seeds, languages)
def test_crossing_takes_every_gene_from_either(chance: random.Random, language: type[Genes]) -> None:
    one, other = drawn(chance, language), drawn(chance, language)
    child = asdict(crossed(one, other, chance))
    assert all(child[name] in (asdict(one)[name], asdict(other)[name]) for name in language.choices)
