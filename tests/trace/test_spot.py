"""Amdahl's law under a roof, and the folders that come of it."""

import pytest

from kernelwright.tasks import InputSpec
from kernelwright.trace import Shape, Spot, TraceError, rank, write_tasks

SOURCE = '''"""`Twice` as script.py builds and calls it."""

import torch


class Twice(torch.nn.Module):
    def forward(self, x):
        return 2 * x


class Model(Twice):
    def __init__(self):
        super().__init__()
'''


class Roof:
    """A byte a microsecond, an operation a nanosecond."""

    def bytes_seconds(self, moved):
        return moved * 1e-6

    def operations_seconds(self, operations):
        return operations * 1e-9


def shape(
    seconds, *, calls=10, rows=8, moved: int | None = 1000, operations=0.0, operators=1, matrix=0.0, layout="contiguous"
):
    inputs = (InputSpec("x", (rows, 4), "float32", "normal(0, 1)", layout),)
    cost = (operations, matrix, moved, operators) if moved is not None else (None, None, None, None)
    return Shape(inputs, calls, seconds, seconds, *cost)


def spot(name, *shapes, why_not=""):
    return Spot(name, f"{name}()", SOURCE, "eval", why_not, (), (), shapes)


def test_gain_is_amdahls():
    (found,) = rank([spot("A", shape(0.5))], 1.0, Roof())
    # Ten calls of a thousand bytes at half a byte a microsecond, and ten microseconds each to call.
    then = 10 * (2e-3 + 1e-5)
    assert found.share == 0.5
    assert found.speedup == pytest.approx(0.5 / then)
    assert found.gain == pytest.approx(1 / (0.5 + then) - 1)


def test_the_largest_gain_comes_first_whatever_takes_longest():
    long_but_bound = spot("Bound", shape(0.6, operations=0.6e9 / 10))
    short_but_slow = spot("Slow", shape(0.3))
    assert [one.spot.name for one in rank([long_but_bound, short_but_slow], 1.0, Roof())] == ["Slow", "Bound"]


def test_nothing_is_expected_to_get_slower():
    (found,) = rank([spot("Fast", shape(1e-4))], 1.0, Roof())
    assert (found.speedup, found.gain) == (1.0, 0.0)


def test_what_was_not_counted_is_guessed():
    (found,) = rank([spot("Unknown", shape(0.3, moved=None))], 1.0, Roof())
    assert found.speedup == pytest.approx(1.5)


def test_a_module_of_many_operators_is_no_kernel():
    (found,) = rank([spot("Block", shape(0.3, operators=30))], 1.0, Roof())
    assert "30 operators a call" in found.why_not


def test_folders_load_with_shapes_weighted_by_calls(tmp_path):
    ranked = rank([spot("TwiceAsMuch", shape(0.3), shape(0.1, calls=3, rows=7, layout="transposed"))], 1.0, Roof())
    ((_, folder, task),) = write_tasks(ranked, tmp_path / "tasks", 5)
    assert folder.name == "twice_as_much"
    assert [(case.name, case.weight) for case in task.cases] == [("1: 8x4", 10), ("2: 7x4", 3)]
    assert task.cases[1].inputs[0].layout == "transposed"
    assert (task.source, task.mode, task.library) == (SOURCE, "eval", "forbidden")


def test_matrix_products_may_be_left_to_the_library(tmp_path):
    ((_, _, task),) = write_tasks(rank([spot("A", shape(0.3, matrix=1e3))], 1.0, Roof()), tmp_path, 1)
    assert task.library == "gemm-only"


def test_spots_of_one_class_get_folders_of_their_own(tmp_path):
    spots = [spot("A", shape(0.3)), spot("A", shape(0.2)), spot("A", shape(0.1), why_not="it is random")]
    written = write_tasks(rank(spots, 1.0, Roof()), tmp_path, 5)
    assert [folder.name for _, folder, _ in written] == ["a", "a_2"]


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(TraceError, match="already holds a"):
        write_tasks(rank([spot("A", shape(0.3))], 1.0, Roof()), tmp_path, 5)
