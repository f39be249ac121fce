"""What the value families do to drawn tensors."""

import pytest
import torch

from kernelwright.judge.worker._families import FAMILIES, apply_family
from kernelwright.tasks import FAMILIES as NAMES


def test_every_family_a_task_may_name_exists():
    assert set(NAMES) == set(FAMILIES)


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"constant", "sorted"}))
def test_structure_that_kernels_rely_on_survives(name):
    triangle = torch.randn(30, 30).tril()
    symmetric = triangle + triangle.T
    for matrix, holds in ((triangle, lambda m: (m.triu(1) == 0).all()), (symmetric, lambda m: torch.equal(m, m.T))):
        changed = apply_family(name, [matrix.clone()])
        assert changed is None or holds(changed[0])


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"given"}))
def test_values_change_and_form_does_not(name):
    x = torch.randn(20, 33)
    (changed,) = apply_family(name, [x.clone()])
    assert changed.shape == x.shape
    assert changed.dtype == x.dtype
    assert not torch.equal(changed, x)


def test_integers_keep_their_values():
    floats, targets = torch.randn(10, 4), torch.arange(10)
    changed = apply_family("heavy", [floats, targets])
    assert torch.equal(changed[1], targets)


def test_ends_carry_nearly_everything():
    (changed,) = apply_family("ends", [torch.ones(5, 40)])
    assert changed[:, [0, 1, -2, -1]].sum() > 0.9 * changed.sum()


def test_below_leaves_nothing_near_zero():
    (changed,) = apply_family("below", [torch.randn(100, 7)])
    assert changed.max() < -60


@pytest.mark.parametrize("family", ["shifted", "below"])
def test_a_zero_that_came_by_chance_stays_and_keeps_no_family_away(family):
    x = torch.rand(1000, 1000).clamp_(min=0.01)
    x[3, 5] = 0
    (changed,) = apply_family(family, [x])
    assert changed[3, 5] == 0
    assert int((changed == 0).sum()) == 1
