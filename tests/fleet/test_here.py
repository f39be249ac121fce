"""This machine as a fleet: one job at a time; faults are tried again, and are never the candidate's."""

import time
from collections.abc import Callable, Iterator

import pytest

from kernelwright.fleet import Here, Job, Kind, Result, judge_version
from tests.fleet.conftest import Puppet

LONG = 30.0


@pytest.fixture
def here(puppet: type[Puppet]) -> Iterator[Here]:
    here = Here(judges=puppet)
    yield here
    here.close()


def _all(here: Here) -> list[Result]:
    found: list[Result] = []
    while some := here.finished(LONG):
        found += some
    return found


def test_what_was_submitted_comes_back_in_order(here: Here, job: Callable[..., Job], puppet: type[Puppet]) -> None:
    jobs = [job(text) for text in "abc"]
    for one in [*jobs, jobs[0]]:
        here.submit(one)
    results = _all(here)
    assert [result.job for result in results] == [one.name for one in jobs]
    first = results[0]
    assert first.verdict is not None
    assert (first.kind, first.candidate, first.judge) == (Kind.JUDGED, jobs[0].candidate, judge_version())
    assert first.verdict["candidate"] == jobs[0].candidate
    assert "(" in first.where
    assert len(puppet.made) == 1


def test_nothing_under_way_is_not_waited_for(here: Here) -> None:
    assert here.finished(1e9) == []


def test_a_job_that_has_come_back_may_be_submitted_again(here: Here, job: Callable[..., Job]) -> None:
    for _ in range(2):
        here.submit(job())
        assert len(_all(here)) == 1


@pytest.mark.parametrize("source", ["fault", "surprise"])
def test_a_fault_is_tried_again_with_a_new_judge(
    here: Here, job: Callable[..., Job], puppet: type[Puppet], source: str
) -> None:
    puppet.recovers_after = 2
    here.submit(job(source))
    assert [result.kind for result in _all(here)] == [Kind.JUDGED]
    assert len(puppet.made) == 3
    assert [judge.closed for judge in puppet.made] == [True, True, False]


@pytest.mark.parametrize(("source", "reason"), [("fault", "the template is gone"), ("surprise", "nobody thought")])
def test_a_fault_that_stays_is_infra_with_a_reason_and_no_verdict(
    here: Here, job: Callable[..., Job], puppet: type[Puppet], source: str, reason: str
) -> None:
    here.submit(job(source))
    here.submit(job("good"))
    failed, good = _all(here)
    assert (failed.kind, failed.verdict) == (Kind.INFRA, None)
    assert reason in failed.reason
    assert puppet.heard == [source] * 3 + ["good"]
    assert good.kind is Kind.JUDGED


@pytest.mark.parametrize("source", ["out of reach", "only compiled"])
def test_what_this_machine_lacks_is_not_tried_twice(
    here: Here, job: Callable[..., Job], puppet: type[Puppet], source: str
) -> None:
    here.submit(job(source))
    (result,) = _all(here)
    assert (result.kind, result.verdict) == (Kind.INFRA, None)
    assert puppet.heard == [source]


def test_a_task_that_cannot_be_judged_is_refused(here: Here, job: Callable[..., Job]) -> None:
    here.submit(job("refused"))
    (result,) = _all(here)
    assert (result.kind, result.verdict, result.reason) == (Kind.REFUSED, None, "the task is too weak")


def test_other_baselines_are_another_judges_and_one_lives_at_a_time(
    here: Here, job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    here.submit(job("a"))
    here.submit(job("b", baselines=("eager", "compile"), limits={"call_s": 3.0}))
    _all(here)
    first, second = puppet.made
    assert (first.retired, second.retired) == (True, False)
    assert (second.baselines, second.limits.call_s) == (("eager", "compile"), 3.0)
    here.close()
    assert second.closed


def test_another_judge_takes_over_what_the_last_has_loaded(
    here: Here, job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    for final in (False, True, False):
        here.submit(job("a", final=final))
        assert len(_all(here)) == 1
    assert [judge.template for judge in puppet.made] == ["loaded by 0"] * 3


def test_after_a_fault_nothing_is_taken_over(here: Here, job: Callable[..., Job], puppet: type[Puppet]) -> None:
    puppet.recovers_after = 1
    here.submit(job("fault"))
    assert [result.kind for result in _all(here)] == [Kind.JUDGED]
    assert [judge.template for judge in puppet.made] == ["loaded by 0", "loaded by 1"]


def test_who_cannot_retire_in_good_order_leaves_nothing(
    here: Here, job: Callable[..., Job], puppet: type[Puppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(puppet, "retire", lambda judge: 1 / 0)
    for final in (False, True):
        here.submit(job("a", final=final))
    assert [result.kind for result in _all(here)] == [Kind.JUDGED] * 2
    assert [(judge.template, judge.closed) for judge in puppet.made] == [("loaded by 0", True), ("loaded by 1", False)]


# What waits


@pytest.fixture
def busy(here: Here, job: Callable[..., Job], puppet: type[Puppet]) -> Here:
    """A judge that hears a case which lasts until the gate is opened."""
    here.submit(job("gate"))
    while not puppet.heard:
        time.sleep(0.001)
    return here


def test_a_profile_waits_until_all_are_judged(busy: Here, job: Callable[..., Job], puppet: type[Puppet]) -> None:
    profile = job("a", profile_of={"status": "CORRECT"})
    for one in (profile, job("b"), job("c")):
        busy.submit(one)
    puppet.gate.set()
    results = _all(busy)
    assert [result.kind for result in results] == [Kind.JUDGED] * 3 + [Kind.PROFILED]
    assert results[-1].job == profile.name
    assert results[-1].reason  # this judge has no profiler, and says so


def test_where_the_processor_is_timed_those_that_wait_are_built_together_between_two_judgements(
    busy: Here, job: Callable[..., Job], puppet: type[Puppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    for text in "abcd":
        busy.submit(job(text))
    assert puppet.ahead == []
    puppet.gate.set()
    _all(busy)
    assert puppet.ahead == ["a", "b", "c"]  # d was alone then
    assert puppet.heard == ["gate", "a", "b", "c", "d"]


def test_on_a_device_a_build_begins_when_its_candidate_comes(
    busy: Here, job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    puppet.on_device = True
    busy.submit(job("a"))
    busy.submit(job("b"))
    assert puppet.ahead == ["a", "b"]
    puppet.gate.set()
    assert len(_all(busy)) == 3


def test_the_last_measurement_has_a_judge_of_its_own_who_tells_his_seeds(
    here: Here, job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    here.submit(job("a"))
    here.submit(job("a", final=True))
    _all(here)
    assert [judge.reveal_seeds for judge in puppet.made] == [False, True]


def test_the_judge_is_told_which_jobs_are_for_the_device(
    here: Here, job: Callable[..., Job], puppet: type[Puppet]
) -> None:
    for one in (job("a"), job("b", on_device=True)):
        here.submit(one)
    _all(here)
    assert puppet.sent_to_device == [False, True]
