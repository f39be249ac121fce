"""Which parent, towards what: statements about distributions, each drawn with a seed that is written down."""

import random
from collections import Counter

import pytest

from kernelwright.archive import (
    BOTTLENECKS,
    CELLS,
    FREELY,
    WITHIN,
    Archive,
    ArchiveError,
    Choice,
    Direction,
    Entry,
    Outcome,
    Repair,
    Scene,
    Selector,
    UnknownStrategyError,
    register,
    strategy_names,
    target,
)
from kernelwright.archive.strategies import _registry
from kernelwright.archive.strategies.bandit import arms_of, worths
from kernelwright.archive.strategies.promising import FREE_CHILDREN
from tests.archive.made_up import asked, entry, filled, went

MIDDLE = (1, 1, 1)
MEMORY, ALGORITHM = ("memory", 1), ("algorithm", 1)
UPPER_HALF = [cell for cell in CELLS if cell[0] >= 2]
DRAWS = 600
# These draw nothing: whoever promises most is built on.
BY_PROMISE = {"promising", "unsteered"}


def drawn(archive: Archive, strategy: str = "bandit", **context) -> list[Choice]:
    selector, rng = Selector(strategy, repair_share=0), random.Random(1)
    return [selector.choose(archive, rng, **context) for _ in range(DRAWS)]


def share(choices: list[Choice], direction: Direction) -> float:
    return sum(choice.direction == direction for choice in choices) / len(choices)


def cells(choices: list[Choice]) -> Counter:
    return Counter(choice.cell for choice in choices)


# What holds for every strategy


@pytest.mark.parametrize("strategy", strategy_names())
def test_a_choice_is_an_elite_a_step_inside_the_grid_and_a_sentence(strategy):
    archive = filled({(0, 0, 0): 0.1, MIDDLE: 0.5, (3, 3, 3): -0.5})
    went(archive.history, MIDDLE, MEMORY, 3, gain=0.1, placed=True)
    for choice in drawn(archive, strategy):
        assert choice.parent == archive.elites[choice.cell].candidate
        assert choice.log_speedup == archive.elites[choice.cell].log_speedup
        assert choice.direction == FREELY or target(choice.cell, choice.direction) is not None
        assert choice.why.endswith(".")
        assert choice.why.count(". ") == 0


@pytest.mark.parametrize("strategy", strategy_names())
def test_the_same_seed_makes_the_same_choice_whoever_came_first(strategy):
    values = {(0, 0, 0): 0.1, MIDDLE: 0.5, (3, 3, 3): -0.5}
    one, other = filled(values), filled(dict(reversed(values.items())))
    steps = [[(c.cell, c.direction, c.why) for c in drawn(archive, strategy)] for archive in (one, other)]
    assert steps[0] == steps[1]


@pytest.mark.parametrize("strategy", sorted({*strategy_names()} - BY_PROMISE))
def test_every_elite_and_every_direction_has_a_chance_downwards_too(strategy):
    choices = drawn(filled({(1, 1, 1): 0.1, (2, 2, 2): 0.5}), strategy)
    assert len({(choice.cell, choice.direction) for choice in choices}) == 14


@pytest.mark.parametrize("strategy", ["fitness", "bandit", "foremost"])
def test_what_is_chosen_does_not_change_when_every_speedup_is_squared(strategy):
    values = {(0, 0, 0): 0.1, MIDDLE: 0.5, (3, 3, 3): -0.5}
    squared = {cell: 2 * value for cell, value in values.items()}
    steps = []
    for factor, archive in ((1, filled(values)), (2, filled(squared))):
        went(archive.history, MIDDLE, MEMORY, 4, gain=0.3 * factor, placed=True)
        went(archive.history, MIDDLE, ALGORITHM, 4, gain=-0.3 * factor, placed=False)
        steps.append([(choice.cell, choice.direction) for choice in drawn(archive, strategy)])
    assert steps[0] == steps[1]


def test_a_strategy_is_a_function_with_a_name(monkeypatch):
    monkeypatch.setattr(_registry, "_strategies", dict(_registry._strategies))

    @register
    def first(scene, rng):
        return scene.choice(scene.cells[0], WITHIN, "It is the first.")

    assert {choice.cell for choice in drawn(filled({MIDDLE: 0.1, (2, 0, 0): 0.3}), "first")} == {MIDDLE}


def test_a_wrong_name_is_answered_with_the_nearest_before_anything_is_chosen():
    with pytest.raises(UnknownStrategyError) as error:
        Selector("bandti")
    assert str(error.value) == (
        "no selection strategy 'bandti'; did you mean bandit? "
        "known: aimless, bandit, curiosity, fitness, foremost, promising, uniform, unsteered"
    )
    with pytest.raises(ArchiveError, match="no selection strategy 'xyz'; known: aimless"):
        Selector("xyz")


# Uniform, fitness, curiosity


def test_uniform_draws_cells_alike():
    counts = cells(drawn(filled({(0, 0, 0): 9.0, MIDDLE: 0.5, (3, 3, 3): -9.0}), "uniform"))
    assert all(count == pytest.approx(DRAWS / 3, rel=0.2) for count in counts.values())


def test_fitness_draws_by_rank():
    counts = cells(drawn(filled({(0, 0, 0): 1e-6, MIDDLE: 0.0, (3, 3, 3): -1e-6}), "fitness"))
    assert [counts[cell] / DRAWS for cell in ((0, 0, 0), MIDDLE, (3, 3, 3))] == pytest.approx(
        [1 / 2, 1 / 3, 1 / 6], abs=0.06
    )


def test_curiosity_returns_to_parents_whose_children_became_elites():
    fruitful, barren = (0, 1, 1), (3, 1, 1)
    archive = filled({fruitful: 0.0, barren: 0.0})
    went(archive.history, fruitful, WITHIN, 4, gain=0.1, placed=True)
    went(archive.history, barren, WITHIN, 4, gain=-0.1, placed=False)
    counts = cells(drawn(archive, "curiosity"))
    assert counts[fruitful] > 10 * counts[barren] > 0


def test_curiosity_looks_where_the_map_is_empty():
    archive = filled(dict.fromkeys(UPPER_HALF, 0.0) | {MIDDLE: 0.0})
    went(archive.history, MIDDLE, WITHIN, 100, gain=0.0, placed=True)
    choices = [choice for choice in drawn(archive, "curiosity") if choice.cell == MIDDLE]
    assert len(choices) > DRAWS / 2
    assert share(choices, ("memory", -1)) > 1.3 * share(choices, MEMORY)


# The foremost


def test_the_foremost_are_built_on_by_place_whatever_their_speedups():
    for values in ({(0, 1, 1): -9.0, MIDDLE: 0.0, (2, 1, 1): 0.1}, {(0, 1, 1): 0.0, MIDDLE: 0.1, (2, 1, 1): 9.0}):
        counts = cells(drawn(filled(values), "foremost"))
        assert [counts[cell] / DRAWS for cell in ((2, 1, 1), MIDDLE, (0, 1, 1))] == pytest.approx(
            [16 / 21, 4 / 21, 1 / 21], abs=0.06
        )


def test_slow_cells_do_not_draw_steps_away_from_the_best_however_many_and_easily_improved():
    slow = [cell for cell in UPPER_HALF if cell != (3, 3, 3)]
    archive = filled(dict.fromkeys(slow, -3.0) | {(3, 3, 3): 0.5})
    for cell in slow:
        went(archive.history, cell, ("memory", -1), 2, gain=1.0, placed=True)
    counts = {name: cells(drawn(archive, name))[3, 3, 3] / DRAWS for name in ("foremost", "bandit")}
    assert counts["foremost"] > 0.7
    assert counts["bandit"] < 0.2


@pytest.mark.parametrize("strategy", ["bandit", "foremost"])
def test_what_came_of_directions_from_the_best_decides_where_to_take_it_next(strategy):
    shares = []
    for good, bad in ((MEMORY, ALGORITHM), (ALGORITHM, MEMORY)):
        archive = filled({MIDDLE: 0.2, (0, 0, 0): -1.0})
        went(archive.history, MIDDLE, good, 5, gain=0.3, placed=True)
        went(archive.history, MIDDLE, bad, 5, gain=None, placed=False)
        shares.append(share(drawn(archive, strategy), MEMORY))
    assert shares[0] > 3 * shares[1]


@pytest.mark.parametrize("strategy", ["bandit", "foremost"])
def test_the_profilers_word_about_the_best_shifts_where_it_is_taken(strategy):
    archive = filled({MIDDLE: 0.2, (0, 0, 0): -1.0})
    told = {archive.elites[MIDDLE].candidate: "memory"}
    assert share(drawn(archive, strategy, bottlenecks=told), MEMORY) > 1.3 * share(drawn(archive, strategy), MEMORY)


# The most promising


def built_on(archive: Archive, cell, times: int) -> None:
    """So many children that failed."""
    elite = archive.elites[cell]
    for number in range(times):
        archive.failed(f"of {elite.candidate} {number}", None, Choice(elite.candidate, cell, FREELY, "", 0.0))


def first(archive: Archive, strategy: str = "promising", **context) -> Choice:
    return drawn(archive, strategy, **context)[0]


@pytest.mark.parametrize("strategy", sorted(BY_PROMISE))
def test_the_fastest_is_built_on_until_that_runs_dry_and_then_another(strategy):
    archive = filled({MIDDLE: 0.5, (3, 3, 3): -0.5})
    assert first(archive, strategy).cell == MIDDLE
    built_on(archive, MIDDLE, 1)
    assert first(archive, strategy).cell == MIDDLE
    built_on(archive, MIDDLE, 9)
    assert first(archive, strategy).cell == (3, 3, 3)
    built_on(archive, (3, 3, 3), 8)
    assert first(archive, strategy).cell == MIDDLE


@pytest.mark.parametrize(("gain", "goes"), [(0.5, (3, 3, 3)), (0.05, MIDDLE)])
def test_where_little_is_gained_nobody_goes_far_for_it(gain, goes):
    archive = filled({MIDDLE: 0.5, (3, 3, 3): -0.5})
    went(archive.history, MIDDLE, MEMORY, 30, gain=gain, placed=False)
    built_on(archive, MIDDLE, 9)
    assert first(archive).cell == goes


def test_whoever_takes_a_cell_begins_anew():
    archive = filled({MIDDLE: 0.5, (3, 3, 3): 0.0})
    built_on(archive, (3, 3, 3), 20)
    better = Entry("new", (3, 3, 3), 0.4, 0.35, 0.45)
    archive.offer(better)
    archive.settle((3, 3, 3), "new", archive.elites[3, 3, 3], better)
    built_on(archive, MIDDLE, 2)
    assert first(archive).parent == "new"


def test_what_is_under_way_counts_as_built():
    archive = filled({MIDDLE: 0.5, (3, 3, 3): -0.5})
    choices: list[Choice] = []
    for _ in range(12):
        choices.append(first(archive, pending=tuple(choices)))
    assert {choice.cell for choice in choices} == {MIDDLE, (3, 3, 3)}


def test_a_few_children_are_made_freely_and_the_next_where_the_bandit_says():
    archive = filled({MIDDLE: 0.5})
    assert {choice.direction for choice in drawn(archive, "promising")} == {FREELY}
    built_on(archive, MIDDLE, FREE_CHILDREN)
    went(archive.history, MIDDLE, MEMORY, 5, gain=0.3, placed=True)
    choices = drawn(archive, "promising")
    assert share(choices, FREELY) == 0
    assert share(choices, MEMORY) > 3 * share(choices, ALGORITHM)


def test_without_gradients_nobody_is_told_where_to_go():
    archive = filled({MIDDLE: 0.5})
    built_on(archive, MIDDLE, 20)
    assert {choice.direction for choice in drawn(archive, "unsteered")} == {FREELY}


# The bandit


def test_what_came_of_directions_decides_where_to_go_next():
    """Two archives with the same elites and opposite histories: the choice follows the history."""
    shares = []
    for good, bad in ((MEMORY, ALGORITHM), (ALGORITHM, MEMORY)):
        archive = filled({MIDDLE: 0.2})
        went(archive.history, MIDDLE, good, 5, gain=0.3, placed=True)
        went(archive.history, MIDDLE, bad, 5, gain=None, placed=False)
        shares.append(share(drawn(archive), MEMORY))
    assert shares[0] > 5 * shares[1]


def test_without_a_history_directions_are_alike_where_the_map_is_symmetric():
    choices = drawn(filled({MIDDLE: 0.2}))
    assert share(choices, MEMORY) == pytest.approx(share(choices, ALGORITHM), abs=0.06)


def test_how_often_a_direction_made_elites_counts_on_its_own():
    archive = filled({MIDDLE: 0.2})
    went(archive.history, MIDDLE, MEMORY, 5, gain=0.0, placed=True)
    went(archive.history, MIDDLE, ALGORITHM, 5, gain=0.0, placed=False)
    choices = drawn(archive)
    assert share(choices, MEMORY) > 3 * share(choices, ALGORITHM)


def test_how_much_a_direction_gained_counts_on_its_own():
    archive = filled({MIDDLE: 0.2})
    went(archive.history, MIDDLE, MEMORY, 5, gain=0.4, placed=False)
    went(archive.history, MIDDLE, ALGORITHM, 5, gain=-0.4, placed=False)
    choices = drawn(archive)
    assert share(choices, MEMORY) > 3 * share(choices, ALGORITHM)


def test_failures_count_against_a_direction():
    archive = filled({MIDDLE: 0.2})
    went(archive.history, MIDDLE, MEMORY, 8, gain=None, placed=False)
    choices = drawn(archive)
    assert share(choices, MEMORY) < 0.7 * share(choices, ALGORITHM)


def test_simplifying_is_chosen_where_it_has_paid():
    archive = filled({MIDDLE: 0.2})
    simpler = ("coordination", -1)
    went(archive.history, MIDDLE, simpler, 5, gain=0.4, placed=True)
    assert share(drawn(archive), simpler) > 2 / 7


def test_what_was_learned_next_door_carries_over_and_fades_with_distance():
    shares = []
    for where in (MIDDLE, (2, 1, 1), (3, 3, 1)):
        archive = filled({MIDDLE: 0.2})
        went(archive.history, where, MEMORY, 4, gain=0.3, placed=True)
        went(archive.history, where, ALGORITHM, 4, gain=None, placed=False)
        choices = drawn(archive)
        shares.append(share(choices, MEMORY) - share(choices, ALGORITHM))
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize(("old", "new"), [(MEMORY, ALGORITHM), (ALGORITHM, MEMORY)])
def test_old_history_is_outweighed_by_new(old, new):
    archive = filled({MIDDLE: 0.2})
    went(archive.history, MIDDLE, old, 5, gain=0.3, placed=True)
    for placed in (True, False):
        went(archive.history, (3, 3, 3), WITHIN, 150, gain=0.0, placed=placed)
    went(archive.history, MIDDLE, new, 5, gain=0.3, placed=True)
    choices = drawn(archive)
    assert share(choices, new) > 1.3 * share(choices, old)


def test_faster_elites_are_built_on_more_often():
    counts = cells(drawn(filled({(0, 1, 1): -0.5, MIDDLE: 0.0, (2, 1, 1): 0.5})))
    assert counts[(2, 1, 1)] > 2 * counts[(0, 1, 1)] > 0


def test_empty_cells_attract():
    archive = filled(dict.fromkeys(UPPER_HALF, 0.0) | {MIDDLE: 0.0})
    scene = Scene(archive.elites, archive.history)
    arms = arms_of(scene)
    worth = {(arm.cell, arm.direction): value for arm, value in zip(arms, worths(scene, arms), strict=True)}
    assert worth[MIDDLE, ("memory", -1)] > worth[MIDDLE, ALGORITHM] > worth[MIDDLE, MEMORY]


def test_what_is_under_way_is_not_asked_for_again_so_soon():
    archive = filled({MIDDLE: 0.2})
    went(archive.history, MIDDLE, MEMORY, 4, gain=0.3, placed=True)
    alone = share(drawn(archive), MEMORY)
    assert share(drawn(archive, pending=[asked(archive, MIDDLE, MEMORY)] * 6), MEMORY) < 0.7 * alone


def test_the_profilers_word_shifts_what_is_tried_first():
    archive = filled({MIDDLE: 0.2})
    (elite,) = archive.elites.values()
    plain = share(drawn(archive), MEMORY)
    told = {word: share(drawn(archive, bottlenecks={elite.candidate: word}), MEMORY) for word in BOTTLENECKS}
    assert told["memory"] > 1.4 * plain
    assert told["launch"] < 0.8 * plain
    assert set(BOTTLENECKS) == {"memory", "compute", "latency", "launch", "idle"}


def test_a_word_about_another_elite_or_an_unknown_one_shifts_nothing():
    archive = filled({MIDDLE: 0.2})
    (elite,) = archive.elites.values()
    plain = [choice.direction for choice in drawn(archive)]
    assert [choice.direction for choice in drawn(archive, bottlenecks={"another": "memory"})] == plain
    assert [choice.direction for choice in drawn(archive, bottlenecks={elite.candidate: "gremlins"})] == plain


def test_a_history_outweighs_the_profilers_word():
    archive = filled({MIDDLE: 0.2})
    (elite,) = archive.elites.values()
    went(archive.history, MIDDLE, MEMORY, 8, gain=-0.3, placed=False)
    went(archive.history, MIDDLE, ("coordination", 1), 8, gain=0.3, placed=True)
    choices = drawn(archive, bottlenecks={elite.candidate: "memory"})
    assert share(choices, ("coordination", 1)) > 3 * share(choices, MEMORY)


def test_the_reason_tells_what_was_seen():
    archive = filled({MIDDLE: 0.0, (2, 1, 1): 0.6931471805599453})
    went(archive.history, MIDDLE, MEMORY, 2, gain=0.0953, placed=True)
    went(archive.history, MIDDLE, MEMORY, 2, gain=None, placed=False)
    elite = archive.elites[MIDDLE].candidate
    reasons = {(c.cell, c.direction): c.why for c in drawn(archive, bottlenecks={elite: "memory"})}
    assert reasons[MIDDLE, MEMORY] == (
        "The elite of cell (1, 1, 1) (1.00x, held back by memory), one level up in memory: of about 4 such steps here "
        "and nearby 50% made an elite with a mean gain of +10%, and the elite there has 2.00x."
    )
    assert reasons[(2, 1, 1), ALGORITHM] == (
        "The elite of cell (2, 1, 1) (2.00x), one level up in algorithm: hardly tried here or nearby, "
        "and the cell there is empty."
    )


# Repair


def live(share: float, *, failing: float, in_flight: int, steps: int = 400) -> list[Choice | Repair | None]:
    """A search in which a part of all kernels fails and results come back in any order; gives all that was chosen."""
    rng, archive, selector = random.Random(7), Archive(), Selector(repair_share=share)
    pending, chosen, broken = [], [], set()
    for _ in range(steps):
        choice = selector.choose(archive, rng, pending=[each for each in pending if each])
        if isinstance(choice, Repair):
            assert choice.parent in broken
            assert choice not in pending
        elif choice:
            assert choice.parent not in broken
        chosen.append(choice)
        pending.append(choice)
        if len(pending) > in_flight:
            came_of = pending.pop(rng.randrange(len(pending)))
            child = entry(rng.choice([MIDDLE, (2, 1, 1), (1, 2, 1)]), rng.gauss(0, 0.3))
            if rng.random() < failing:
                archive.failed(child.candidate, rng.random(), came_of)
                broken.add(child.candidate)
            elif archive.offer(child, came_of) is Outcome.CONTESTED:
                archive.settle(child.cell, child.candidate, archive.elites[child.cell], child)
    return chosen


@pytest.mark.parametrize("in_flight", [0, 8])
def test_the_share_of_repairs_is_bounded_at_every_moment(in_flight):
    chosen = live(0.3, failing=0.8, in_flight=in_flight)
    repairs = 0
    for number, choice in enumerate(chosen, 1):
        repairs += isinstance(choice, Repair)
        assert repairs <= 0.3 * (number + in_flight)
    assert repairs > 0.2 * len(chosen)


def test_repairs_can_be_switched_off():
    assert not any(isinstance(choice, Repair) for choice in live(0.0, failing=0.8, in_flight=0))


def test_with_nothing_to_build_on_a_draft_is_asked_for():
    assert Selector().choose(Archive(), random.Random(0)) is None


def test_a_cheat_is_not_repaired():
    archive = filled({MIDDLE: 0.2})
    archive.failed("cheat", None, asked(archive, MIDDLE))
    assert len(archive.pool) == 0
    assert len(archive.history) == 1


def test_a_share_that_is_none_is_refused():
    with pytest.raises(ArchiveError, match=r"repair share 1.5: give a share from 0 \(never repair\) to below 1"):
        Selector(repair_share=1.5)
