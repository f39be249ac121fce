"""pyribs, told of the same kernels, keeps the same elites where measurements are exact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.archive import CELLS, FLOOR, LEVELS, Archive, Cell, Entry, Outcome

GridArchive = pytest.importorskip("ribs.archives").GridArchive
pytestmark = pytest.mark.oracles

# Crowded and roomy streams; a coarse scale, so that there are ties, and all of it above the floor.
PLACES = st.sampled_from(CELLS[:5]) | st.sampled_from(CELLS)
SPEEDS = st.integers(-27, 12).map(lambda quarter: quarter / 4)
# What pyribs says of one that was not added, that improved a cell, that filled a new one.
THEIRS = {0: Outcome.REJECTED, 1: Outcome.PLACED, 2: Outcome.PLACED}


def measures(cell: Cell) -> list[float]:
    """The middle of a cell of pyribs's grid."""
    return [level + 0.5 for level in cell]


def offered(archive: Archive, entry: Entry) -> Outcome:
    """What becomes of it in the end: a contest is settled at once, by measuring the same again."""
    outcome = archive.offer(entry)
    if outcome is Outcome.CONTESTED:
        return archive.settle(entry.cell, entry.candidate, archive.elites[entry.cell], entry)
    return outcome


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(PLACES, SPEEDS), min_size=1, max_size=60))
def test_the_same_stream_leaves_the_same_elites(stream):
    ours = Archive()
    theirs = GridArchive(solution_dim=1, dims=[LEVELS] * 3, ranges=[(0, LEVELS)] * 3, qd_score_offset=FLOOR)
    for number, (cell, speed) in enumerate(stream):
        status = theirs.add_single([number], speed, measures(cell))["status"]
        assert offered(ours, Entry(str(number), cell, speed, speed, speed)) is THEIRS[int(status)]
        assert ours.coverage == pytest.approx(theirs.stats.coverage)
        assert ours.qd_score == pytest.approx(theirs.stats.qd_score)
        assert ours.best.log_speedup == theirs.stats.obj_max
    for cell in CELLS:
        occupied, elite = theirs.retrieve_single(measures(cell))
        assert occupied == (cell in ours.elites)
        if occupied:
            assert ours.elites[cell].candidate == str(int(elite["solution"][0]))
            assert ours.elites[cell].log_speedup == elite["objective"]
