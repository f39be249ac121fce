"""Nsight Compute's reports: one recorded on an H200 (columns cut), one that was refused."""

import os
from pathlib import Path

import pytest

from kernelwright.judge.device import _nsight
from kernelwright.judge.device._nsight import NoCounters, by_kernel, read

RECORDED = Path(__file__).parent / "recorded"


def test_a_recorded_report_is_read_in_base_units():
    (launch,) = read((RECORDED / "ncu.csv").read_text())
    assert launch["name"] == "relu_by_neighbour"
    assert launch["seconds"] == pytest.approx(2.272e-6)
    assert launch["bytes_read"] == 259_072
    assert launch["memory_busy"] == 2.39
    assert launch["load_sector_use"] == 100
    assert launch["stall_long_scoreboard"] == 19.75


def test_launches_of_a_kernel_are_put_together_by_their_time():
    short = {"name": "k", "seconds": 1.0, "bytes_read": 10.0, "memory_busy": 20.0}
    long = {"name": "k", "seconds": 3.0, "bytes_read": 30.0, "memory_busy": 60.0}
    found = by_kernel([short, {"name": "other", "seconds": 1.0}, long])
    assert found["k"] == {"launches": 2, "seconds": 4.0, "bytes_read": 40.0, "memory_busy": 50.0}
    assert list(found) == ["k", "other"]


def test_a_refusal_is_told_in_its_own_words():
    with pytest.raises(NoCounters, match="a driver resource was unavailable"):
        read((RECORDED / "ncu_refused.txt").read_text())


@pytest.mark.parametrize("text", ["", "==PROF== Disconnected\n", '"ID","Kernel Name"\n"",""\n'])
def test_a_report_without_launches_is_no_report(text):
    with pytest.raises(NoCounters):
        read(text)


def test_without_the_program_one_line_says_so(monkeypatch):
    monkeypatch.setattr(_nsight, "installed", lambda name: None)
    with pytest.raises(NoCounters, match="not installed"):
        _nsight.find()


def test_the_program_writes_where_it_is_told_and_looks_at_what_is_marked(monkeypatch, tmp_path):
    program = tmp_path / "ncu"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    tool = _nsight.find()
    assert tool.command[0] == str(program)
    assert tool.command[tool.command.index("--log-file") + 1] == "report"
    assert tool.command[tool.command.index("--profile-from-start") + 1] == "off"
    assert str(tmp_path) in tool.folders
