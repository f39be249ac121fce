"""How many blocks fit: against what NVIDIA's calculator says for an H200."""

import pytest

from kernelwright.judge.device._occupancy import occupancy

H200 = {
    "processors": 132,
    "warp": 32,
    "threads": 2048,
    "blocks": 32,
    "registers": 65536,
    "shared_bytes": 233472,
    "reserved_shared_bytes": 1024,
}


def held(threads, registers=16, shared=0, grid=132, limits=H200):
    return occupancy(grid=grid, threads=threads, registers=registers, shared_bytes=shared, limits=limits)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "share", "limited_by"),
    [
        (256, 32, 0, 8, 1.0, "threads"),
        (256, 31, 0, 8, 1.0, "threads"),
        (256, 112, 98304, 2, 0.25, "registers"),
        (256, 255, 0, 1, 0.125, "registers"),
        (1024, 33, 0, 1, 0.5, "registers"),
        (32, 16, 0, 32, 0.5, "blocks"),
        (64, 16, 200 * 1024, 1, 64 / 2048, "shared memory"),
        (100, 16, 0, 16, 1.0, "threads"),
    ],
)
def test_what_runs_out_first_says_how_many_fit(threads, registers, shared, blocks, share, limited_by):
    found = held(threads, registers, shared)
    assert (found.blocks, found.share, found.limited_by) == (blocks, share, limited_by)


def test_waves_are_the_grid_over_what_fits_at_once():
    assert held(256, grid=132 * 8 * 3).waves == 3.0
    assert held(256, grid=132).waves == 0.125


@pytest.mark.parametrize(
    "odd", [held(0), held(256, grid=0), held(256, limits={}), held(256, shared=300000), held(1024, registers=255)]
)
def test_a_kernel_that_cannot_run_has_none(odd):
    assert odd is None
