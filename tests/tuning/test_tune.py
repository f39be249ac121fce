"""The real judge lets configurations race, in its cages; the finalists are judged in full."""

import pytest

from kernelwright.judge import sprint
from kernelwright.tuning import (
    Configuration,
    JudgedRacer,
    Rejected,
    Rules,
    SprintRacer,
    TuningError,
    read_template,
    tune,
)
from tests.tuning.candidates import RELU

# Budgets that allow for one heat and the last one.
RULES = Rules(seconds=0.01, heat=3, finalists=1)
WRONG = "y[j] = x[j] > 0 ? x[j] : 1"
RIGHT = "y[j] = x[j] > 0 ? x[j] : 0"


@pytest.fixture(scope="module")
def tuned(small_judge, relu_task, tmp_path_factory):
    cache = tmp_path_factory.mktemp("tuned") / "tuning.jsonl"
    return cache, tune(relu_task, RELU, judge=small_judge, cache=cache, rules=RULES)


def test_the_best_is_judged_in_full_and_no_slower_than_as_written(tuned):
    _, found = tuned
    assert found.best.verdict.accepted
    assert found.best.ratio >= found.as_written.ratio
    assert read_template(found.best.text).parameters


def test_nothing_that_a_constraint_forbids_is_compiled(tuned):
    _, found = tuned
    assert found.space.combinations == 12
    assert len(found.space) == 11
    assert all(form.configuration in found.space for form in found.outcome.forms)


def test_a_replay_needs_no_judge_and_names_the_same_winner(tuned, relu_task):
    cache, found = tuned
    again = tune(relu_task, RELU, judge=None, cache=cache, rules=RULES)
    assert again.best == found.best
    assert again.outcome == found.outcome
    assert again.replayed > 0


def test_what_was_found_can_be_told_as_json(tuned):
    _, found = tuned
    told = found.to_json()
    assert told["space"] == {"combinations": 12, "configurations": 11}
    assert told["best"]["status"] == "CORRECT"
    assert told["race"]["tried"] == len(told["race"]["standings"])


def test_a_replay_of_nothing_is_one_sentence(relu_task, tmp_path):
    with pytest.raises(TuningError, match="holds nothing of this candidate"):
        tune(relu_task, RELU, judge=None, cache=tmp_path / "none.jsonl", rules=RULES)


def test_a_candidate_that_is_wrong_as_written_is_not_tuned(small_judge, relu_task, tmp_path):
    with pytest.raises(Rejected) as caught:
        tune(relu_task, RELU.replace(RIGHT, WRONG), judge=small_judge, cache=tmp_path / "c.jsonl", rules=RULES)
    assert caught.value.verdict.status == "WRONG_VALUE"


def test_a_sprint_times_those_that_are_right_and_says_why_others_are_not(small_judge, relu_task):
    texts = [RELU, RELU.replace(RIGHT, WRONG), RELU.replace("int64_t i = start", "int64_t i = nonsense"), "1 +"]
    right, wrong, uncompiled, unread = sprint(small_judge, relu_task, texts, 3)
    assert [len(times) for times in right.times.values()] == [3]
    assert all(seconds > 0 for times in right.times.values() for seconds in times)
    assert wrong.failure.startswith("WRONG_VALUE")
    assert uncompiled.failure.startswith("COMPILE_ERROR")
    assert unread.failure.startswith("LOAD_ERROR")
    assert [each.times for each in (wrong, uncompiled, unread)] == [{}, {}, {}]


def test_a_configuration_that_crashes_while_it_is_timed_fails_alone(small_judge, relu_task):
    """It works for as long as it is checked and warmed: who crashes later is out, and the others go on."""
    crashing = RELU.replace(
        "const int64_t n", "static int calls; if (++calls > 20) *(volatile int*)0 = 0;\n    const int64_t n"
    )
    first, second = sprint(small_judge, relu_task, [crashing, RELU], 30)
    assert first.failure.startswith("CRASH")
    assert len(second.times["given"]) == 30


def test_a_race_without_a_pacemaker_is_one_sentence(small_judge, relu_task):
    template = read_template(RELU.replace(RIGHT, WRONG))
    racer = SprintRacer(small_judge, relu_task, template, template.default)
    with pytest.raises(TuningError, match="sets the pace failed: WRONG_VALUE"):
        racer.run([template.default], 1)


def test_where_nothing_is_quick_every_lap_is_a_judgement(small_judge, relu_task):
    template = read_template(RELU.replace(RIGHT, "y[j] = CHUNK == 16 ? 1 : x[j] > 0 ? x[j] : 0"))
    wrong = Configuration((("CHUNK", "16"), ("UNROLL", "1")))
    lap, failed = JudgedRacer(small_judge, relu_task, template).run([template.default, wrong], 1)
    assert lap.whole
    assert len(lap.times["given"]) == len(lap.pace["given"]) > 1
    assert failed.failure.startswith("WRONG_VALUE")
    assert not failed.times
