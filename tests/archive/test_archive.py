"""Who lives in a cell, who takes it, and what the archive remembers of it."""

import json
import math
import random

import pytest

from kernelwright.archive import FLOOR, WITHIN, Archive, ArchiveError, Choice, Entry, Outcome, beats
from tests.archive.made_up import asked, entry, filled

HERE, THERE = (0, 0, 0), (1, 0, 0)


def contested(elite: float, challenger: float) -> tuple[Archive, Entry, Entry]:
    """An archive in which a challenger waits to be measured beside the elite of its cell."""
    archive = Archive()
    first, second = entry(HERE, elite), entry(HERE, challenger)
    archive.offer(first)
    assert archive.offer(second) is Outcome.CONTESTED
    return archive, first, second


def again(measured: Entry, log_speedup: float, noise: float = 0.0) -> Entry:
    return entry(measured.cell, log_speedup, noise=noise, candidate=measured.candidate)


# Placing


def test_an_empty_cell_takes_any_accepted_kernel():
    archive, slow = Archive(), entry(HERE, -9.0)
    assert archive.offer(slow) is Outcome.PLACED
    assert archive.elites == {HERE: slow}


def test_a_slower_kernel_is_rejected_and_so_is_an_equal_one():
    archive = filled({HERE: 0.5})
    assert archive.offer(entry(HERE, 0.4)) is Outcome.REJECTED
    assert archive.offer(entry(HERE, 0.5)) is Outcome.REJECTED
    assert archive.contests == []


def test_a_challenger_never_takes_a_cell_at_once():
    archive, elite, challenger = contested(0.0, 5.0)
    assert archive.elites[HERE] == elite
    assert archive.contests == [challenger]


def test_an_elite_does_not_challenge_itself():
    archive, elite = Archive(), entry(HERE, 0.1)
    archive.offer(elite)
    assert archive.offer(again(elite, 0.9)) is Outcome.REJECTED
    assert archive.elites[HERE] == elite


def test_a_challenger_offered_twice_waits_once():
    archive, _, challenger = contested(0.0, 0.5)
    assert archive.offer(challenger) is Outcome.CONTESTED
    assert archive.contests == [challenger]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_was_not_measured_is_no_entry(value):
    with pytest.raises(ArchiveError, match="report the others as failed"):
        Entry("k", HERE, value, value, value)


def test_an_interval_holds_its_value():
    with pytest.raises(ArchiveError, match="is no interval"):
        Entry("k", HERE, 0.5, 0.6, 0.7)


def test_an_entry_lives_in_the_grid():
    with pytest.raises(ArchiveError, match="no cell"):
        Entry("k", (0, 0, 7), 0.5, 0.4, 0.6)


# Settling


def test_a_challenger_wins_when_the_interval_on_the_difference_says_so():
    archive, elite, challenger = contested(0.0, 0.5)
    found = again(challenger, 0.4, noise=0.1)
    assert archive.settle(HERE, challenger.candidate, again(elite, 0.1, noise=0.1), found) is Outcome.PLACED
    assert archive.elites[HERE] == found
    assert archive.contests == []


def test_a_challenger_that_was_only_lucky_loses():
    archive, elite, challenger = contested(0.0, 0.5)
    outcome = archive.settle(
        HERE, challenger.candidate, again(elite, 0.1, noise=0.1), again(challenger, 0.2, noise=0.1)
    )
    assert outcome is Outcome.REJECTED
    assert archive.elites[HERE].candidate == elite.candidate


def test_errors_of_both_count_in_the_difference():
    # Each alone would do: 0.12 is more than 0.1. Together they make 0.141.
    assert beats(entry(HERE, 0.12, noise=0.1), entry(HERE, 0.0))
    assert beats(entry(HERE, 0.12), entry(HERE, 0.0, noise=0.1))
    assert not beats(entry(HERE, 0.12, noise=0.1), entry(HERE, 0.0, noise=0.1))
    assert beats(entry(HERE, 0.15, noise=0.1), entry(HERE, 0.0, noise=0.1))


def test_only_the_sides_that_face_each_other_count():
    wide_above = Entry("k", HERE, 0.1, 0.05, 3.0)
    wide_below = Entry("k", HERE, 0.0, -3.0, 0.05)
    assert beats(wide_above, wide_below)
    assert not beats(Entry("k", HERE, 0.1, -3.0, 0.15), entry(HERE, 0.0))


def test_an_elite_is_worth_what_it_was_found_to_be_worth_last():
    archive, elite, challenger = contested(0.9, 1.0)
    archive.settle(HERE, challenger.candidate, again(elite, 0.6), again(challenger, 0.5))
    assert archive.elites[HERE] == again(elite, 0.6)
    assert archive.corrections == pytest.approx(-0.3)


def test_a_winner_is_worth_its_second_measurement():
    archive, elite, challenger = contested(0.0, 1.0)
    archive.settle(HERE, challenger.candidate, again(elite, 0.0), again(challenger, 0.2))
    assert archive.best == again(challenger, 0.2)


def test_a_cell_that_went_to_a_third_meanwhile_is_contested_again():
    archive, elite, challenger = contested(0.0, 0.5)
    third = entry(HERE, 0.2)
    archive.offer(third)
    archive.settle(HERE, third.candidate, elite, third)
    found = again(challenger, 0.4)
    assert archive.settle(HERE, challenger.candidate, elite, found) is Outcome.CONTESTED
    assert archive.elites[HERE] == third
    assert archive.contests == [found]
    assert archive.settle(HERE, challenger.candidate, third, found) is Outcome.PLACED


def test_a_challenger_that_the_third_has_outrun_is_rejected():
    archive, elite, challenger = contested(0.0, 0.5)
    third = entry(HERE, 0.9)
    archive.offer(third)
    archive.settle(HERE, third.candidate, elite, third)
    assert archive.settle(HERE, challenger.candidate, elite, challenger) is Outcome.REJECTED
    assert archive.contests == []


def test_nobody_is_settled_who_was_not_offered():
    archive = filled({HERE: 0.0})
    stranger = entry(HERE, 1.0)
    with pytest.raises(ArchiveError, match=r"does not contest cell .* offer it first"):
        archive.settle(HERE, stranger.candidate, archive.elites[HERE], stranger)


def test_a_contest_is_settled_by_measurements_of_its_own():
    archive, elite, challenger = contested(0.0, 0.5)
    with pytest.raises(ArchiveError, match="was measured in place of"):
        archive.settle(HERE, challenger.candidate, elite, entry(HERE, 3.0))
    with pytest.raises(ArchiveError, match="does not contest"):
        archive.settle(THERE, challenger.candidate, elite, challenger)
    assert archive.contests == [challenger]


def test_a_challenger_that_fails_when_measured_again_is_out_and_not_repaired():
    archive, elite, challenger = contested(0.0, 0.5)
    archive.failed(challenger.candidate, 0.9)
    assert archive.contests == []
    assert archive.elites[HERE] == elite
    assert len(archive.pool) == 0


def test_only_an_elite_is_measured_again():
    with pytest.raises(ArchiveError, match="is not the elite of cell"):
        filled({HERE: 0.0}).remeasured(entry(HERE, 1.0))


# What the archive as a whole is worth


def test_a_kernel_a_thousand_times_slower_is_worth_as_much_as_none():
    archive = filled({HERE: math.log(1 / 1000)})
    assert archive.coverage == 1 / 64
    assert archive.qd_score == 0
    archive.offer(entry(THERE, -50.0))
    assert archive.qd_score == 0


def test_the_qd_score_sums_what_lies_above_the_floor():
    archive = filled({HERE: -1.0, THERE: 0.5})
    assert archive.qd_score == pytest.approx(-0.5 - 2 * FLOOR)


def test_the_best_is_the_fastest_elite():
    assert Archive().best is None
    assert filled({HERE: -1.0, THERE: 0.5, (3, 3, 3): 0.2}).best.cell == THERE


# What came of what was asked


def test_a_child_is_recorded_with_where_it_came_from_and_what_was_asked():
    archive = filled({HERE: 0.25})
    archive.offer(entry(THERE, 0.75), asked(archive, HERE, ("memory", 1)))
    (transition,) = archive.history
    assert (transition.start, transition.landed, transition.asked) == (HERE, THERE, ("memory", 1))
    assert transition.gain == 0.5
    assert transition.placed


def test_a_failure_is_recorded_without_a_number():
    archive = filled({HERE: 0.25})
    archive.failed("broken", 0.5, asked(archive, HERE))
    (transition,) = archive.history
    assert transition.landed is None
    assert transition.gain is None
    assert not transition.placed


def test_a_draft_is_nobodys_child():
    archive = filled({HERE: 0.25})
    archive.failed("broken", 0.5)
    assert len(archive.history) == 0
    assert archive.results == 2


def test_a_contested_child_made_an_elite_only_once_that_is_settled():
    archive = filled({HERE: 0.2})
    elite = archive.elites[HERE]
    challenger = entry(HERE, 0.9)
    archive.offer(challenger, asked(archive, HERE))
    assert [each.placed for each in archive.history] == [False]
    archive.settle(HERE, challenger.candidate, again(elite, 0.3), again(challenger, 0.7))
    (transition,) = archive.history
    assert transition.placed
    # Its parent was measured beside it, so that is what it is compared with.
    assert transition.gain == pytest.approx(0.4)


def test_the_gain_of_a_child_in_another_cell_is_counted_from_its_parent():
    archive = filled({HERE: 0.2, THERE: 0.3})
    challenger = entry(THERE, 0.9)
    archive.offer(challenger, asked(archive, HERE, ("memory", 1)))
    archive.settle(THERE, challenger.candidate, again(archive.elites[THERE], 0.8), again(challenger, 0.7))
    (transition,) = archive.history
    assert transition.gain == pytest.approx(0.5)
    assert not transition.placed


def test_what_a_repair_mended_answers_what_was_asked_in_the_first_place():
    archive = filled({HERE: 0.25})
    archive.failed("broken", 0.5, asked(archive, HERE, ("memory", 1)))
    repair = archive.pool.next()
    archive.offer(entry(THERE, 0.5), repair)
    first, second = archive.history
    assert first.asked == second.asked == ("memory", 1)
    assert (first.gain, second.gain) == (None, 0.25)
    assert len(archive.pool) == 0
    assert (archive.results, archive.repairs) == (3, 1)


# State


def busy_archive() -> Archive:
    archive = filled({HERE: 0.2, THERE: 0.3})
    archive.offer(entry(HERE, 0.9), asked(archive, HERE))
    archive.failed("broken", 0.5, asked(archive, THERE, ("memory", -1)))
    archive.failed("still broken", 0.6, archive.pool.next())
    archive.failed("a draft", 0.1)
    archive.remeasured(again(archive.elites[THERE], 0.25))
    return archive


def test_the_state_survives_json():
    archive = busy_archive()
    told = json.dumps(archive.to_json())
    back = Archive.from_json(json.loads(told))
    assert json.dumps(back.to_json()) == told
    assert back.pool.next() == archive.pool.next()
    assert back.history.tallies() == archive.history.tallies()
    assert back.contests == archive.contests
    assert back.elites == archive.elites
    assert (back.results, back.repairs, back.corrections) == (archive.results, 1, archive.corrections)


def test_state_of_another_form_is_refused_in_one_sentence():
    with pytest.raises(ArchiveError, match=r"cannot be read \(KeyError: 'elites'\); replay the run's events instead"):
        Archive.from_json({})
    with pytest.raises(ArchiveError, match="cannot be read"):
        Archive.from_json({"elites": [{"candidate": "k"}]})


def test_stored_events_make_the_same_archive():
    live, stored = Archive(), []

    def tell(event):
        stored.append(json.loads(json.dumps(event)))
        Archive.replay(live, event)

    first, second = entry(HERE, 0.1), entry(HERE, 0.6)
    choice = Choice(first.candidate, HERE, WITHIN, "made up", 0.1)
    tell({"event": "offer", "entry": first.to_json(), "came_of": None})
    tell({"event": "offer", "entry": second.to_json(), "came_of": choice.to_json()})
    tell({"event": "failed", "candidate": "broken", "promise": 0.5, "came_of": choice.to_json()})
    tell({"event": "failed", "candidate": "worse", "promise": 0.2, "came_of": live.pool.next().to_json()})
    again_told = {"elite_again": first.to_json(), "challenger_again": again(second, 0.5).to_json()}
    tell({"event": "confirmed", "cell": HERE, "challenger": second.candidate, **again_told})
    tell({"event": "remeasured", "entry": again(second, 0.4).to_json()})
    replayed = Archive()
    for event in stored:
        replayed.replay(event)
    assert replayed.best == again(second, 0.4)
    assert json.dumps(replayed.to_json()) == json.dumps(live.to_json())


def test_an_event_that_is_none_is_refused_in_one_sentence():
    with pytest.raises(ArchiveError, match=r"no event 'forgot'.*known: offer, failed, confirmed, remeasured"):
        Archive().replay({"event": "forgot"})
    with pytest.raises(ArchiveError, match=r"a stored event 'offer' cannot be read \(KeyError: 'entry'\)"):
        Archive().replay({"event": "offer"})
    with pytest.raises(ArchiveError, match="kind improve or repair, not 'guess'"):
        Archive().replay({"event": "failed", "candidate": "k", "promise": 0.1, "came_of": {"kind": "guess"}})


# Inspirations


def test_inspirations_are_other_elites_each_once():
    archive = filled({HERE: 0.0, THERE: 0.1, (0, 1, 0): 0.2})
    shown = archive.inspirations(HERE, 5, random.Random(0))
    assert {each.cell for each in shown} == {THERE, (0, 1, 0)}
    assert len(shown) == 2
    assert archive.inspirations(HERE, 0, random.Random(0)) == []


def test_near_and_good_ones_are_shown_more_often_and_one_from_afar():
    near_good, near_bad, far = THERE, (0, 1, 0), [(3, 3, 3), (3, 3, 2), (3, 2, 3)]
    archive = filled({HERE: 0.0, near_good: 1.0, near_bad: -1.0} | dict.fromkeys(far, 0.5))
    shown = [archive.inspirations(HERE, 2, random.Random(seed)) for seed in range(300)]
    first = [one.cell for one, _ in shown]
    assert first.count(near_good) > 2 * first.count(near_bad)
    assert first.count(near_good) > 4 * max(first.count(cell) for cell in far)
    assert all(other.cell in far for _, other in shown)


def test_inspirations_of_an_empty_cell_are_elites_too():
    assert [each.cell for each in filled({HERE: 0.0}).inspirations((3, 3, 3), 2, random.Random(0))] == [HERE]
