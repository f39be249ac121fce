"""The command itself: version, help, and its exit codes as a process."""

import subprocess
import sys

import pytest

from kernelwright import __version__


def test_version(invoke):
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"kernelwright {__version__}"


def test_help_names_every_command(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for command in (
        "eval",
        "verify",
        "bench",
        "suites",
        "optimize",
        "resume",
        "runs",
        "best",
        "init",
        "doctor",
        "demo",
    ):
        assert command in result.output


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("eval", ["--backend", "--json", "--set", "--seed", "--mode", "--fit", "--baseline", "--certificate"]),
        ("verify", ["certificate"]),
        ("bench", ["--solutions", "--baseline", "--quality", "--fit"]),
        ("suites", ["audit", "--suite-dir"]),
        ("init", ["task folder", "--project", "--function"]),
        ("doctor", ["bubblewrap"]),
        ("demo", ["FUSION"]),
    ],
)
def test_every_command_explains_itself(invoke, command, words):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    for word in words:
        assert word in result.output


def test_without_a_command_help_is_shown(invoke):
    assert "eval" in invoke().output


def test_as_a_process_a_failure_is_code_two_and_goes_to_stderr():
    command = [sys.executable, "-m", "kernelwright", "eval", "nowhere.py", "nowhere_either.py"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "nowhere.py" in ended.stderr
    assert "Next:" in ended.stderr
    assert ended.stdout == ""
