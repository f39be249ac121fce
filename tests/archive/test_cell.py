"""The grid: cells, steps and where they end."""

import json

import pytest

from kernelwright.archive import AXES, CELLS, WITHIN, ArchiveError, directions, in_words, target
from kernelwright.archive._cell import DIRECTIONS, distance, lies_that_way, to_cell, to_direction


def test_there_are_sixty_four_cells():
    assert len(set(CELLS)) == 64
    assert AXES == ("memory", "algorithm", "coordination")


def test_a_step_moves_one_level_along_its_axis():
    assert target((1, 2, 0), ("memory", 1)) == (2, 2, 0)
    assert target((1, 2, 0), ("algorithm", -1)) == (1, 1, 0)
    assert target((1, 2, 0), WITHIN) == (1, 2, 0)


def test_no_step_leaves_the_grid():
    assert target((1, 2, 0), ("coordination", -1)) is None
    assert directions((0, 3, 1)) == [
        WITHIN,
        ("memory", 1),
        ("algorithm", -1),
        ("coordination", 1),
        ("coordination", -1),
    ]


def test_every_cell_may_be_left_and_may_stay():
    for cell in CELLS:
        there = [target(cell, direction) for direction in directions(cell)]
        assert cell in there
        assert len(there) >= 4
        assert all(distance(cell, other) <= 1 for other in there)


def test_far_cells_lie_that_way_too():
    assert lies_that_way((1, 1, 1), (3, 0, 2), ("memory", 1))
    assert not lies_that_way((1, 1, 1), (1, 3, 3), ("memory", 1))
    assert not lies_that_way((1, 1, 1), (3, 0, 2), WITHIN)


def test_downwards_is_called_simplifying():
    assert in_words(("memory", -1)) == "one level down in memory (simplify)"
    assert in_words(("algorithm", 1)) == "one level up in algorithm"


def test_directions_and_cells_survive_json():
    for direction in DIRECTIONS:
        assert to_direction(json.loads(json.dumps(direction))) == direction
    assert to_cell(json.loads(json.dumps((3, 0, 1)))) == (3, 0, 1)


@pytest.mark.parametrize("told", [[4, 0, 0], [0, 0], [-1, 0, 0], "000", None, [0.5, 0, 0]])
def test_what_is_no_cell_is_said_to_be_none(told):
    with pytest.raises(
        ArchiveError, match=r"no cell .* give three levels \(memory, algorithm, coordination\), each 0 to 3"
    ):
        to_cell(told)


@pytest.mark.parametrize("told", [["memory", 2], ["speed", 1], "up", None])
def test_what_is_no_direction_is_said_to_be_none(told):
    with pytest.raises(ArchiveError, match=r"no direction .* 'improve within the cell'"):
        to_direction(told)
