"""Two threads do what one would have done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge._halves import in_halves


@given(length=st.integers(0, 5000), step=st.integers(1, 700), large=st.integers(0, 6000))
def test_every_part_is_done_once_and_in_order(length: int, step: int, large: int) -> None:
    parts = in_halves(lambda part: (part.start, part.stop), length, step=step, large=large)
    assert parts[0][0] == 0
    assert parts[-1][1] == length
    assert [part[1] for part in parts[:-1]] == [part[0] for part in parts[1:]]
    assert all(start % step == 0 for start, _ in parts)


@pytest.mark.parametrize("half", [0, 1])
def test_whoever_fails_is_heard(half: int) -> None:
    def work(part: slice) -> None:
        if (part.start > 0) == bool(half):
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        in_halves(work, 100, large=0)


def test_a_large_copy_is_whole() -> None:
    source, target = np.arange(3 << 18), np.zeros(3 << 18, dtype=np.int64)

    def copy(part: slice) -> None:
        target[part] = source[part]

    in_halves(copy, len(source))
    assert np.array_equal(source, target)
