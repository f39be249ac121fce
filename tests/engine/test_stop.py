"""When a run has found enough."""

import pytest

from kernelwright.engine._stop import Standing, StopRules, reason_to_stop


def test_without_rules_a_run_goes_on():
    assert (
        reason_to_stop(StopRules(), Standing(best_low=100.0, best_roof_share=1.0, evaluations_since_best=9999)) is None
    )


def test_a_target_is_reached_by_the_lower_end_of_the_interval():
    rules = StopRules(target=2.0)
    assert reason_to_stop(rules, Standing()) is None
    assert reason_to_stop(rules, Standing(best_low=1.99)) is None
    assert "at least 2.05x" in str(reason_to_stop(rules, Standing(best_low=2.05)))


def test_near_the_roof_there_is_nothing_left_to_gain():
    assert reason_to_stop(StopRules(roof_share=0.9), Standing(best_roof_share=0.89)) is None
    assert "91%" in str(reason_to_stop(StopRules(roof_share=0.9), Standing(best_roof_share=0.91)))


def test_a_plateau_is_counted_from_the_last_improvement():
    assert reason_to_stop(StopRules(plateau=20), Standing(evaluations_since_best=19)) is None
    assert "nothing better in 20" in str(reason_to_stop(StopRules(plateau=20), Standing(evaluations_since_best=20)))


@pytest.mark.parametrize("rule", [{"target": 0}, {"roof_share": 1.5}, {"roof_share": 0}, {"plateau": 0}])
def test_rules_that_mean_nothing_are_refused(rule):
    with pytest.raises(ValueError, match=r"give|between"):
        StopRules(**rule)
