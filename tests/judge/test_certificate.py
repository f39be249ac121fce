"""A certificate says what was claimed, notices tampering, and is held against a new verdict."""

import json

import pytest

from kernelwright.judge import Status, Verdict, certificate
from kernelwright.judge._verdict import source_hash
from kernelwright.tasks import load_task
from tests.judge.texts import TASKS

CANDIDATE = "class ModelNew: ...\n"


@pytest.fixture(scope="module")
def task():
    return load_task(TASKS / "relu.py")


def verdict(task, *, status=Status.CORRECT, speedup=None, cpu="this one") -> Verdict:
    return Verdict(
        status=status,
        stage="physics",
        message="correct",
        task=task.hash,
        candidate=source_hash(CANDIDATE),
        speedup=speedup or {},
        machine={"cpu": cpu},
    )


def ratio(low, middle, high):
    return {"eager": {"ratio": middle, "low": low, "high": high}}


def issued(task, **options) -> dict:
    return json.loads(certificate.issue(task, CANDIDATE, verdict(task, **options), ("eager",)))


def claim(task, **options):
    return certificate.read(json.dumps(issued(task, **options)))


def test_what_is_issued_can_be_read(task):
    found = claim(task, speedup=ratio(1.8, 2.0, 2.2))
    assert found.task == task
    assert found.task.hash == task.hash
    assert found.candidate == CANDIDATE
    assert found.baselines == ("eager",)
    assert found.verdict["speedup"] == ratio(1.8, 2.0, 2.2)


def test_a_claim_that_is_found_again_holds(task):
    review = certificate.review(claim(task, speedup=ratio(1.8, 2.0, 2.2)), verdict(task, speedup=ratio(2.1, 2.3, 2.5)))
    assert review.holds
    assert all(line.startswith("holds: ") for line in review.lines)


@pytest.mark.parametrize("found", [ratio(0.9, 1.0, 1.1), ratio(3.0, 3.1, 3.2), {}])
def test_a_speedup_that_is_not_found_again_does_not_hold(task, found):
    review = certificate.review(claim(task, speedup=ratio(1.8, 2.0, 2.2)), verdict(task, speedup=found))
    assert not review.holds
    assert any(line.startswith("FAILS: ") and "eager" in line for line in review.lines)


def test_another_status_does_not_hold(task):
    review = certificate.review(claim(task), verdict(task, status=Status.WRONG_VALUE))
    assert not review.holds
    assert "CORRECT claimed, WRONG_VALUE found" in review.lines[0]


def test_another_machine_is_noted(task):
    review = certificate.review(claim(task), verdict(task, cpu="that one"))
    assert review.holds
    assert review.lines[0].startswith("note: ")


def test_a_claim_of_correctness_alone_is_not_broken_by_a_speed(task):
    """Judged again with timing: what was claimed without it still holds."""
    review = certificate.review(claim(task, status=Status.UNTIMED), verdict(task, speedup=ratio(1, 1, 1)))
    assert review.holds


CHANGES = {
    "the candidate's text": lambda c: c.update(candidate=CANDIDATE + "# changed\n"),
    "the task's source": lambda c: c["task"].update(source=c["task"]["source"] + "\n"),
    "the task's library policy": lambda c: c["task"].update(library="allowed"),
    "the candidate's hash": lambda c: c["verdict"].update(candidate="0" * 64),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_afterwards_is_noticed(task, change):
    content = issued(task)
    change(content)
    with pytest.raises(certificate.BrokenCertificate, match="changed after"):
        certificate.read(json.dumps(content))


DAMAGE = {
    "another kind": lambda c: c.update(kind="shopping list"),
    "no kind": lambda c: c.pop("kind"),
    "a later format": lambda c: c.update(format=99),
    "a key too many": lambda c: c.update(extra=1),
    "no verdict": lambda c: c.pop("verdict"),
    "a verdict that is a list": lambda c: c.update(verdict=[]),
    "a verdict without hashes": lambda c: c.update(verdict={}),
    "a verdict without a machine": lambda c: c["verdict"].pop("machine"),
    "a speedup that is a number": lambda c: c["verdict"].update(speedup={"eager": 2.0}),
    "no task": lambda c: c.update(task=None),
    "a task that is a list": lambda c: c.update(task=[1]),
    "a task with an unknown key": lambda c: c["task"].update(colour="blue"),
    "a task with an unknown policy": lambda c: c["task"].update(library="sometimes"),
    "a candidate that is no text": lambda c: c.update(candidate=5),
    "baselines that are no list": lambda c: c.update(baselines=5),
    "an unknown baseline": lambda c: c.update(baselines=["psychic"]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_certificate_is_said_to_be_one(task, damage):
    content = issued(task)
    damage(content)
    with pytest.raises(certificate.BrokenCertificate):
        certificate.read(json.dumps(content))


@pytest.mark.parametrize("text", ["", "hello", "{", "[]", "null", '"kernelwright certificate"'])
def test_what_is_no_certificate_is_said_not_to_be_one(text):
    with pytest.raises(certificate.BrokenCertificate):
        certificate.read(text)
