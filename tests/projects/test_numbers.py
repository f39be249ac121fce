"""What benchmarks say, in the forms they say it in; and what the judge's clock makes of it."""

import json

import pytest

from kernelwright.judge import Status
from kernelwright.judge._status import Rejection
from kernelwright.judge.project._numbers import NoNumber, agree, read
from kernelwright.judge.project._witness import Turn, weigh

PYTEST_BENCHMARK = {
    "machine_info": {"node": "here"},
    "benchmarks": [
        {
            "name": "test_a",
            "stats": {"min": 0.1, "median": 0.2, "rounds": 3, "iterations": 5, "data": [0.1, 0.2, 0.3]},
            "extra_info": {"check": 7},
        },
        {"name": "test_b", "stats": {"median": 0.5, "rounds": 2, "iterations": 1}, "extra_info": {}},
    ],
}
HYPERFINE = {"results": [{"command": "./blur", "mean": 0.25, "median": 0.2, "times": [0.1, 0.2, 0.45]}]}


def test_a_line_of_json_is_read_from_among_others():
    found = read("json", 'warming up\n{"seconds": [0.2, 0.1, 0.4], "check": [1, 2.5]}\n\n')
    assert (found.seconds, found.calls, found.total) == (0.2, 3, pytest.approx(0.7))
    assert found.check == [1, 2.5]
    assert read("json", '{"seconds": 0.25, "iterations": 4}').total == 1.0


def test_pytest_benchmark_counts_rounds_and_iterations():
    found = read("pytest-benchmark", json.dumps(PYTEST_BENCHMARK, indent=1))
    assert (found.seconds, found.calls, found.total) == (pytest.approx(0.7), 17, pytest.approx(4.0))
    assert found.check == [7, None]


def test_hyperfine_gives_its_times():
    found = read("hyperfine", json.dumps(HYPERFINE))
    assert (found.seconds, found.calls, found.total, found.check) == (0.2, 3, pytest.approx(0.75), None)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("json", ""),
        ("json", "it took 3 ms"),
        ("json", '{"seconds": []}'),
        ("json", '{"seconds": [0.1, -0.1]}'),
        ("json", '{"seconds": NaN}'),
        ("json", '{"seconds": "0.1"}'),
        ("json", '{"seconds": true}'),
        ("json", '{"seconds": [0.1], "iterations": 0.5}'),
        ("pytest-benchmark", "{}"),
        ("pytest-benchmark", '{"benchmarks": [{"stats": {}}]}'),
        ("hyperfine", '{"results": []}'),
    ],
)
def test_what_is_no_number_is_said_not_to_be_one(output, text):
    with pytest.raises(NoNumber):
        read(output, text)


@pytest.mark.parametrize(
    ("mine", "theirs", "same"),
    [
        (1.0000001, 1.0, True),
        (1.001, 1.0, False),
        (10**12 + 1, 10**12, False),
        (1, 1.0, True),
        ([1.0, "a"], [1.0, "a"], True),
        ([1.0], [1.0, 2.0], False),
        (None, 1.0, False),
        (None, None, True),
        (float("nan"), float("nan"), False),
        ("1", 1.0, False),
    ],
)
def test_checks_agree_in_numbers_nearly_and_else_exactly(mine, theirs, same):
    assert agree(mine, theirs, 1e-6) is same


# The clock


def turns(wall, claimed, calls=4):
    """Ten runs that differ by a millisecond or two."""
    return [Turn(wall + 0.001 * (number % 3), claimed, calls * claimed) for number in range(10)]


def test_claims_that_the_clock_bears_out_are_used():
    found = weigh(turns(1.3, 0.25), turns(0.5, 0.05))
    assert (found.borne_out, found.charge) == (True, 1.0)
    assert 1.0 <= found.doubt < 1.05


def test_claims_that_the_clock_contradicts_are_refused():
    with pytest.raises(Rejection, match="forged, or work was moved") as caught:
        weigh(turns(1.3, 0.25), turns(1.3, 0.05))
    assert caught.value.status is Status.TAMPER


def test_a_little_more_outside_what_is_timed_is_charged():
    found = weigh(turns(1.3, 0.25), turns(0.6, 0.05))
    assert found.borne_out
    assert found.charge == pytest.approx(1.5, rel=0.05)


def test_where_the_clock_sees_too_little_only_the_clock_counts():
    noisy = [Turn(1.0 + 0.05 * (number % 4), 0.01, 0.04) for number in range(10)]
    faster = [Turn(1.0 + 0.05 * ((number + 1) % 4), 0.005, 0.02) for number in range(10)]
    assert not weigh(noisy, faster).borne_out
