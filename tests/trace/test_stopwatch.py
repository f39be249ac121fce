"""What a stopwatch at every module sees: calls, shapes, time with and without inner modules."""

import time

import pytest
import torch
from torch import nn

from kernelwright.trace._design import BUILT, remembering
from kernelwright.trace._examined import examined
from kernelwright.trace._spot import Spot
from kernelwright.trace._stopwatch import Stopwatch


class Slow(nn.Module):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(self.seconds)
        return 2 * x


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Slow(0.02), Slow(0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.01)
        return self.second(self.first(x))


class Again(nn.Module):
    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        time.sleep(0.01)
        return self(x, times - 1) if times else x


def seen(run) -> dict[str, Spot]:
    """What a stopwatch saw, by label."""
    watch = Stopwatch()
    with remembering(), watch.running():
        run()
    return {told["label"]: Spot.from_json(told) for told in examined(watch, "script.py")}


@torch.no_grad()
def twice_and_once() -> None:
    model = Outer().eval()
    for rows in (2, 2, 3):
        model(torch.ones(rows, 4))


def test_modules_are_known_by_design_and_shapes():
    spots = seen(twice_and_once)
    inner, outer = spots["Slow(0.02)"], spots["Outer()"]
    assert [(shape.title, shape.calls) for shape in inner.shapes] == [("2x4", 4), ("3x4", 2)]
    assert [shape.calls for shape in outer.shapes] == [2, 1]
    assert set(inner.paths) == {"first", "second"}
    assert inner.inside == ("Outer",)
    assert not outer.why_not
    assert inner.shapes[0].bytes == 2 * 4 * 8


def test_strides_that_a_task_cannot_tell_apart_are_one_shape():
    @torch.no_grad()
    def run() -> None:
        model = Slow(0.001)
        for order in ((0, 1, 2), (1, 2, 0), (2, 1, 0)):
            model(torch.ones(5, 5, 5).permute(order))

    (shape, *others) = seen(run)["Slow(0.001)"].shapes
    assert (shape.calls, shape.title, others) == (3, "5x5x5", [])


def test_own_time_leaves_inner_modules_out():
    spots = seen(twice_and_once)
    inner, outer = spots["Slow(0.02)"], spots["Outer()"]
    assert inner.own_seconds == pytest.approx(inner.seconds)
    assert inner.seconds >= 6 * 0.02
    assert outer.own_seconds == pytest.approx(outer.seconds - inner.seconds, rel=1e-6)
    assert outer.own_seconds >= 3 * 0.01


def test_a_module_that_calls_itself_counts_once():
    watch = Stopwatch()
    with remembering(), watch.running(), torch.no_grad():
        Again()(torch.ones(2), 2)
    (kind,) = watch.kinds.values()
    outermost, *inner = kind.seen.values()
    assert outermost.seconds == pytest.approx(sum(seen.own_seconds for seen in kind.seen.values()))
    assert [seen.seconds for seen in inner] == [0.0, 0.0]


def test_calls_that_record_gradients_are_no_tasks():
    spots = seen(lambda: nn.Linear(4, 4)(torch.ones(2, 4)))
    assert "gradients are recorded" in spots["Linear(4, 4)"].why_not


def test_torch_is_left_as_it_was():
    before = nn.Module.__call__
    with pytest.raises(RuntimeError):
        seen(lambda: nn.Linear(4, 4)(torch.ones(2, 5)))
    assert nn.Module.__call__ is before
    assert BUILT not in vars(nn.Linear(4, 4))
