"""`prompts list`, `show`, `diff`: the advice of a store, its descent and its worth."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kernelwright.prompts import Genome, seed
from kernelwright.store import Genome as KeptGenome
from kernelwright.store import Outcome, Store
from tests.cli.conftest import Invoke
from tests.store.conftest import begin

SEED = seed("cpp")
CHILD = SEED.child(pitfalls=SEED.pitfalls + "\n- Mind the last rows.")
GRANDCHILD = CHILD.child(philosophy="Measure first.")


def kept(genome: Genome, parent: str | None) -> KeptGenome:
    return KeptGenome(hash=genome.hash, backend="cpp", regions=genome.regions, parent=parent)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The seed was used three times, its child once, its grandchild never."""
    path = tmp_path / "runs.db"
    with Store(path) as records:
        run = begin(records).id
        records.keep_genome(kept(CHILD, SEED.hash))
        records.keep_genome(kept(GRANDCHILD, CHILD.hash))
        for genome, gain in ((SEED, 0.1), (SEED, None), (SEED, 0.3), (CHILD, math.log(2))):
            records.keep_outcome(Outcome(run=run, genome=genome.hash, backend="cpp", candidate="c", gain=gain))
    return path


def lines(text: str, *genomes: Genome) -> list[str]:
    found = [line for line in text.splitlines() if any(genome.hash[:10] in line for genome in genomes)]
    assert len(found) == len(genomes)
    return found


def depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def test_a_family_is_listed_as_a_tree_with_what_each_is_worth(invoke: Invoke, store: Path) -> None:
    out = invoke("prompts", "list", "--store", store).output
    first, second, third = lines(out, SEED, CHILD, GRANDCHILD)
    assert "(seed)" in first
    assert [depth(line) - depth(first) for line in (first, second, third)] == [0, 2, 4]
    assert first.split()[2:4] == ["3", "1"]
    assert second.split()[1:3] == ["1", "0"]
    ratio, low, high = (float(word.strip("x[],")) for word in second.split()[3:6])
    assert low < ratio < high
    assert 1 < ratio < 2  # one use does not outweigh what all have gained
    assert "not used yet" in third
    assert "triton" not in out


def test_a_language_without_advice_of_its_own_has_its_seed(invoke: Invoke, store: Path) -> None:
    out = invoke("prompts", "list", "--store", store, "--backend", "triton").output
    assert "not used yet" in lines(out, seed("triton"))[0]


def test_a_store_in_which_nothing_was_used_says_so(invoke: Invoke, tmp_path: Path) -> None:
    Store(tmp_path / "new.db").close()
    result = invoke("prompts", "list", "--store", tmp_path / "new.db")
    assert result.exit_code == 0
    assert "no advice was used yet" in result.output


def test_advice_is_shown_whole(invoke: Invoke, store: Path) -> None:
    result = invoke("prompts", "show", CHILD.hash[:8], "--store", store)
    for region, text in CHILD.regions.items():
        assert f"## {region}\n\n{text}" in result.stdout
    assert f"from {SEED.hash[:10]}" in result.stderr


def test_a_child_differs_from_its_parent_in_what_was_edited(invoke: Invoke, store: Path) -> None:
    out = invoke("prompts", "diff", CHILD.hash[:8], "--store", store).output
    changed = [line for line in out.splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["+- Mind the last rows."]
    assert f"+++ {CHILD.hash[:10]}/pitfalls" in out
    assert "philosophy" not in out


def test_any_two_can_be_compared(invoke: Invoke, store: Path) -> None:
    out = invoke("prompts", "diff", GRANDCHILD.hash, SEED.hash, "--store", store).output
    assert "+Measure first." in out
    assert "+- Mind the last rows." in out


@pytest.mark.parametrize(
    ("words", "what", "fix"),
    [
        (["show", "zzzz"], "there is no advice 'zzzz'", "prompts list"),
        (["show", ""], "several pieces of advice begin with ''", SEED.hash[:10]),
        (["diff", SEED.hash], "a seed and has no parent", "prompts diff"),
        (["list", "--backend", "tritn"], "did you mean triton?", ""),
        (["list", "--store", "none.db"], "there is no store at none.db", "a run makes one"),
    ],
)
def test_what_is_not_there_is_said(cannot_judge, store: Path, words: list[str], what: str, fix: str) -> None:
    where = [] if "--store" in words else ["--store", store]
    cannot_judge("prompts", *words, *where, names=[what], fix=fix)


def test_advice_from_another_versions_seed_stands_at_the_left_and_has_nothing_to_be_compared_with(
    cannot_judge, invoke: Invoke, store: Path
) -> None:
    orphan = Genome(backend="cpp", philosophy="a", strategies="b", pitfalls="c", analysis="d", parent="0" * 64)
    with Store(store) as records:
        records.keep_genome(kept(orphan, orphan.parent))
    root, line = lines(invoke("prompts", "list", "--store", store).output, SEED, orphan)
    assert depth(line) == depth(root)
    cannot_judge("prompts", "diff", orphan.hash, "--store", store, names=["parent is not here"], fix="prompts diff")
