"""What a judgement may take."""

from dataclasses import replace

import pytest

from kernelwright.judge import Limits, available_memory, limit_names


def test_memory_is_worked_out_for_this_machine_unless_given():
    settled = Limits().settled()
    assert settled.memory_bytes >= 1 << 30
    assert settled.memory_bytes <= max(1 << 30, available_memory())


def test_limits_that_were_given_are_kept():
    given = Limits(call_s=1.5, memory_bytes=12345)
    assert given.settled() == given


def test_settling_changes_nothing_but_memory():
    assert replace(Limits().settled(), memory_bytes=0) == Limits()


@pytest.mark.parametrize("name", limit_names())
def test_every_limit_can_be_set_by_its_name(name):
    assert getattr(Limits(**{name: 7}), name) == 7


def test_there_is_memory():
    assert available_memory() > 0
