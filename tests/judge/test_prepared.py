"""Secret seeds: foretold by nobody, come to again by whoever knows the master."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.judge import Judge, _nulls
from kernelwright.judge._prepared import Seeds
from kernelwright.judge.device._prepared import DevicePrepared
from kernelwright.tasks import TaskError, load_task
from tests.judge.texts import TASKS

MASTERS = st.integers(0, 2**62 - 1)


def first(seeds: Seeds, number: int) -> list[int]:
    return [seeds.next() for _ in range(number)]


@given(MASTERS)
def test_the_same_master_gives_the_same_sequence(master):
    assert first(Seeds(master), 20) == first(Seeds(master), 20)


@given(MASTERS, MASTERS)
def test_another_master_gives_another_sequence(one, other):
    if one != other:
        assert first(Seeds(one), 5) != first(Seeds(other), 5)


@given(MASTERS)
def test_a_neighbouring_master_shares_no_seed(master):
    assert not set(first(Seeds(master), 50)) & set(first(Seeds(master + 1), 50))


def test_no_seed_comes_twice():
    assert len(set(first(Seeds(1), 10_000))) == 10_000


def test_masters_are_drawn_where_none_is_given():
    assert len({Seeds().master for _ in range(20)}) == 20


@given(MASTERS)
def test_seeds_fit_where_torch_takes_them(master):
    assert all(0 <= seed < 2**63 for seed in first(Seeds(master), 20))


@pytest.mark.parametrize("device", [None, "host"])
@pytest.mark.parametrize(("times", "refused"), [(1, False), (2, True)])
def test_a_null_candidate_that_passes_once_has_been_lucky(device, times, refused, monkeypatch):
    """Two losses of few digits agree now and then: only who passes on other draws too shows a weak task."""
    luck = iter([["the answer to other inputs"]] * times)
    kind = DevicePrepared if device else _nulls
    monkeypatch.setattr(kind, "_passing" if device else "passing", lambda *_, **__: next(luck, []))
    task = load_task(TASKS / "relu.py")
    with Judge(device=device) as judge:
        if refused:
            with pytest.raises(TaskError, match="the answer to other inputs would pass"):
                judge.prepare(task, on_device=bool(device))
        else:
            judge.prepare(task, on_device=bool(device))
    assert next(luck, None) is None
