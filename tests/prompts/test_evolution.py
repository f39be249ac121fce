"""Genomes, what they are worth, who is chosen, and how rewriters change them."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.prompts import (
    LONGEST,
    REGIONS,
    Example,
    Family,
    Genome,
    PromptError,
    apply_edits,
    backends,
    compose_rewrite,
    rewrite_prompt,
    seed,
)
from tests.prompts.parts import BAD, GOOD

SEED = seed("cpp")
GOOD_EXAMPLE = Example(task="softmax", source="# GOOD SOURCE\n" + "a = 1\n" * 2000, outcome=GOOD, gain=1.31)
BAD_EXAMPLE = Example(task="layer norm", source="# BAD SOURCE\n" + "b = 1\n" * 2000, outcome=BAD)
gains = st.lists(st.one_of(st.none(), st.floats(-3, 3)), max_size=30)


def changed(genome: Genome, word: str) -> Genome:
    return genome.child(philosophy=f"{genome.philosophy}\n{word}")


def edit(search: str, replace: str, region: str = "") -> str:
    return f"<<<<<<< SEARCH {region}\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


# *** genomes ***


@pytest.mark.parametrize("backend", backends())
def test_every_backend_has_a_seed_with_room_to_grow(backend):
    for region in seed(backend).regions.values():
        assert 300 < len(region) < LONGEST / 1.5


def test_seeds_differ():
    assert len({seed(backend).regions[name] for backend in backends() for name in REGIONS}) == 4 * len(backends())


def test_a_genome_is_known_by_its_content_and_not_by_its_parent():
    child = changed(SEED, "More.")
    assert child.hash != SEED.hash
    assert child.parent == SEED.hash
    assert child.child(philosophy=SEED.philosophy).hash == SEED.hash


def test_a_genome_survives_the_journey_through_json():
    child = changed(SEED, "More.")
    assert Genome.from_json(child.to_json()) == child


@pytest.mark.parametrize(("region", "sentence"), [("  \n", "is empty"), ("x" * (LONGEST + 1), "more than")])
def test_a_region_is_neither_empty_nor_too_long(region, sentence):
    with pytest.raises(PromptError, match=sentence):
        SEED.child(pitfalls=region)


# *** worth and choice ***


@given(gains)
def test_worth_lies_within_its_range_and_counts_what_was_rejected(found):
    worth = Family([SEED], {SEED.hash: found}).worth(SEED.hash)
    assert worth.low < worth.mean < worth.high
    assert (worth.trials, worth.rejected) == (len(found), found.count(None))


@given(gains, st.floats(-3, 3))
def test_a_right_kernel_never_counts_less_than_a_rejected_one(found, gain):
    right = Family([SEED], {SEED.hash: [*found, gain]}).worth(SEED.hash)
    rejected = Family([SEED], {SEED.hash: [*found, None]}).worth(SEED.hash)
    assert right.mean >= rejected.mean - 1e-12


def test_worth_is_a_mean_and_not_a_maximum():
    steady, lucky = changed(SEED, "Steady."), changed(SEED, "Lucky.")
    family = Family([steady, lucky], {steady.hash: [0.2] * 20, lucky.hash: [None] * 19 + [2.0]})
    assert family.worth(steady.hash).mean > family.worth(lucky.hash).mean


def test_more_trials_make_the_range_narrower():
    few = Family([SEED], {SEED.hash: [0.1, 0.2]}).worth(SEED.hash)
    many = Family([SEED], {SEED.hash: [0.1, 0.2] * 20}).worth(SEED.hash)
    assert many.high - many.low < (few.high - few.low) / 2


def test_the_better_advice_is_chosen_more_often_and_the_untried_is_tried():
    good, bad, new = (changed(SEED, word) for word in ("Good.", "Bad.", "New."))
    family = Family([good, bad, new], {good.hash: [0.3, 0.4] * 10, bad.hash: [-0.3, None] * 10})
    random = Random(0)
    chosen = Counter(family.choose(random).hash for _ in range(400))
    assert chosen[good.hash] > 200
    assert chosen[new.hash] > 10
    assert chosen[bad.hash] < 10


def test_what_is_learned_changes_the_choice():
    one, other = changed(SEED, "One."), changed(SEED, "Other.")
    family = Family([one, other])
    for _ in range(20):
        family.learn(one.hash, None)
        family.learn(other.hash, 0.2)
    random = Random(0)
    assert Counter(family.choose(random).hash for _ in range(100))[other.hash] > 95


def test_the_same_seed_makes_the_same_choices():
    family = Family([SEED, changed(SEED, "Other.")])
    draws = [[family.choose(random).hash for _ in range(20)] for random in (Random(5), Random(5))]
    assert draws[0] == draws[1]


def test_the_family_tree_is_kept():
    child = changed(SEED, "Child.")
    grandchild = changed(child, "Grandchild.")
    family = Family([SEED, child, grandchild])
    assert family.lineage(grandchild.hash) == [SEED, child, grandchild]
    assert family.children(SEED.hash) == [child]


def test_advice_that_goes_in_a_circle_has_a_lineage_that_ends():
    child = changed(SEED, "Child.")
    back = child.child(philosophy=SEED.philosophy)
    family = Family([back, child])
    assert family.lineage(child.hash) == [back, child]


def test_the_same_advice_is_taken_in_once():
    family = Family([SEED])
    assert not family.add(changed(SEED, "x").child(philosophy=SEED.philosophy))
    assert family.add(changed(SEED, "x"))
    assert len(family) == 2


def test_families_do_not_mix_and_do_not_know_strangers():
    family = Family([SEED])
    with pytest.raises(PromptError, match="a genome for cuda"):
        family.add(seed("cuda"))
    with pytest.raises(PromptError, match="no genome 'abc'"):
        family.learn("abc", 0.1)
    with pytest.raises(PromptError, match="no genome to choose"):
        Family([]).choose(Random(0))


# *** the rewriter ***


def test_the_rewriter_sees_the_advice_and_what_truly_came_of_it():
    worth = Family([SEED], {SEED.hash: [0.3, None]}).worth(SEED.hash)
    text = rewrite_prompt(SEED, [GOOD_EXAMPLE] * 2, [BAD_EXAMPLE] * 2, worth=worth, tokens=100_000)
    expected = [
        *SEED.regions.values(),
        *("Gained, 2: softmax", "1.31 times as fast as its parent", "CORRECT: correct", "1.31x [1.22, 1.4] over eager"),
        *("Did not gain, 2: layer norm", "Rejected. COMPILE_ERROR: kernel.cpp:7:5", "LAST LINE OF THE LOG"),
        *("GOOD SOURCE", "BAD SOURCE", "2 kernels were written with this advice; 1 were rejected"),
    ]
    assert [piece for piece in expected if piece not in text] == []


def test_a_long_kernel_never_hides_why_it_failed():
    long = Example(task="t", source="x = 1\n" * 50_000, outcome=BAD)
    text = rewrite_prompt(SEED, [], [long])
    assert "FIRST LINE OF THE LOG" in text
    assert "LAST LINE OF THE LOG" in text


@given(st.integers(3000, 40_000), st.integers(0, 4), st.integers(1, 4))
def test_a_request_for_the_rewriter_fits_and_loses_successes_and_failures_in_turn(tokens, good, bad):
    prompt = compose_rewrite(SEED, [GOOD_EXAMPLE] * good, [BAD_EXAMPLE] * bad, tokens=tokens)
    assert prompt.tokens <= tokens
    assert bool(prompt.shortened) == ("parts were shortened" in prompt.text)
    assert all(region in prompt.text for region in SEED.regions.values())


def test_without_examples_there_is_nothing_to_rewrite():
    with pytest.raises(PromptError, match="nothing to learn from"):
        rewrite_prompt(SEED, [], [])


LINE = "- Divide once: multiply by the reciprocal in the loop."


def test_an_edit_makes_a_child():
    answer = "The writers divided in loops.\n\n" + edit(LINE, LINE + " Always.", "strategies")
    rewrite = apply_edits(SEED, answer)
    assert rewrite.refused == ()
    assert rewrite.genome.parent == SEED.hash
    assert rewrite.genome.strategies == SEED.strategies.replace(LINE, LINE + " Always.")
    assert rewrite.genome.philosophy == SEED.philosophy


def test_the_region_need_not_be_named_where_the_text_stands_in_one_only():
    assert apply_edits(SEED, edit(LINE, "- Divide never.").replace("\n", "\r\n")).genome is not None


def test_several_edits_make_one_child_of_the_same_parent():
    answer = edit(LINE, "- Divide never.") + edit("- Divide never.", "- Never divide.")
    rewrite = apply_edits(SEED, answer)
    assert rewrite.genome.parent == SEED.hash
    assert "- Never divide." in rewrite.genome.strategies


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("I would not change anything.", "no complete SEARCH/REPLACE edit"),
        (edit("no such line", "x"), "does not stand there: 'no such line'"),
        (edit(LINE, "x", "pitfalls"), "does not stand there"),
        (edit(LINE, "x", "tactics"), "names the region 'tactics'"),
        (edit(SEED.analysis, "", "analysis"), "the region analysis is empty"),
        (edit(LINE, "y" * LONGEST), f"more than {LONGEST}"),
        (edit("", "x", "strategies"), "empty SEARCH"),
        (edit("Before writing, answer", "Before writing, answer", "analysis"), "change nothing"),
        (edit("the", "a", "strategies"), "more than one place"),
    ],
)
def test_edits_that_cannot_be_made_are_refused_with_a_sentence(answer, sentence):
    rewrite = apply_edits(SEED, answer)
    assert rewrite.genome is None
    assert sentence in " ".join(rewrite.refused)


def test_a_good_edit_beside_a_bad_one_is_made():
    rewrite = apply_edits(SEED, edit("no such line", "x") + edit(LINE, "- Divide never."))
    assert "- Divide never." in rewrite.genome.strategies
    assert len(rewrite.refused) == 1


def test_text_that_stands_in_two_regions_needs_the_region_s_name():
    both = SEED.child(philosophy="Measure first.\nThen think.", analysis="Measure first.\nThen write.")
    assert "stands in philosophy and analysis" in apply_edits(both, edit("Measure first.", "Think.")).refused[0]
    assert apply_edits(both, edit("Measure first.", "Think.", "analysis")).genome.analysis == "Think.\nThen write."


@given(st.text(max_size=300), st.sampled_from(REGIONS))
def test_whatever_is_put_in_a_genome_stays_within_its_limits(new, region):
    line = SEED.regions[region].splitlines()[0]
    rewrite = apply_edits(SEED, edit(line, new, region))
    if rewrite.genome:
        assert all(0 < len(text.strip()) <= LONGEST for text in rewrite.genome.regions.values())
        assert rewrite.genome.hash != SEED.hash
