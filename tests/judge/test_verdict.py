"""What a verdict says, and what it never says."""

import json

import pytest

from kernelwright.judge import ACCEPTED, Status, Verdict
from kernelwright.judge._verdict import source_hash

# The keys that other programs rely on.
KEYS = set(
    "status accepted stage message time_ms speedup coverage specialised seconds evidence machine task candidate".split()
)


def verdict(status: Status, **more) -> Verdict:
    return Verdict(status=status, stage="check", message="why", task="t" * 64, candidate="c" * 64, **more)


@pytest.mark.parametrize("status", Status)
def test_every_status_is_told_with_every_promised_key(status):
    told = json.loads(json.dumps(verdict(status).to_json()))
    assert told.keys() >= KEYS
    assert told["status"] == status.name
    assert told["accepted"] is (status in ACCEPTED)


def test_only_correct_candidates_are_accepted():
    assert {Status.CORRECT, Status.UNTIMED} == ACCEPTED


@pytest.mark.parametrize("status", sorted(set(Status) - ACCEPTED))
def test_a_failure_has_no_number(status):
    told = verdict(status).to_json()
    assert told["speedup"] == {}
    assert told["time_ms"] == {}


def test_a_candidate_is_known_by_every_byte_of_its_text():
    assert source_hash("x = 1\n") == source_hash("x = 1\n")
    assert source_hash("x = 1\n") != source_hash("x = 1")
    assert len(source_hash("")) == 64
