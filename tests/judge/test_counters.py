"""What `perf stat` printed, and what it means when it counted nothing."""

import os

import pytest

from kernelwright.judge import _counters
from kernelwright.judge._counters import Counters, NoCounters, parse, reason

COUNTED = """\
# started on Sun Nov 15 20:00:00 2026

1234567;;cycles;1000000;100.00;;
2469134;;instructions:u;1000000;100.00;2.00;insn per cycle
<not supported>;;cache-misses;0;100.00;;
<not counted>;;branches;0;0.00;;
77;;task-clock;1;100.00;;
"""


def test_events_are_read_by_name_and_what_was_not_counted_is_left_out():
    assert parse(COUNTED) == {"cycles": 1234567.0, "instructions": 2469134.0}


@pytest.mark.parametrize("text", ["", "\n\n", "garbage", "1;2", ";;;", "x;;cycles;"])
def test_nothing_readable_is_nothing(text):
    assert parse(text) == {}


def test_a_machine_without_counters_is_explained():
    assert "virtual machines" in reason("<not supported>;;cycles;0;100.00;;\n")
    assert reason("<not counted>;;cycles;0;0.00;;\n") == "not counted"
    assert reason("") == "it wrote nothing"


def test_a_machine_without_perf_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(_counters.shutil, "which", lambda name: None)
    with pytest.raises(NoCounters, match="not installed"):
        Counters(os.getpid())


def test_a_perf_that_refuses_is_quoted(monkeypatch, tmp_path):
    fake = tmp_path / "perf"
    fake.write_text("#!/bin/sh\necho 'Access to performance monitoring is limited.' >&2\nexit 255\n")
    fake.chmod(0o755)
    monkeypatch.setattr(_counters.shutil, "which", lambda name: str(fake))
    with Counters(os.getpid()) as counting, pytest.raises(NoCounters, match="monitoring is limited"):
        counting.resume()


def _counted_or_why_not() -> list[str]:
    try:
        with Counters(os.getpid()) as counting:
            counting.resume()
            sum(range(10_000))
            counting.pause()
            return list(counting.read())
    except NoCounters as error:
        return str(error).split()


def test_counting_this_process_counts_or_says_why_not():
    """Whichever holds on this machine: no third way, and no descriptor left open."""
    before = len(os.listdir("/proc/self/fd"))
    told = _counted_or_why_not()
    assert told[0] == "perf" or set(told) <= set(_counters.EVENTS)
    assert len(os.listdir("/proc/self/fd")) == before
