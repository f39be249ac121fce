"""The judge that costs nothing, with which the engine is measured, can be asked all that a judge is asked."""

import inspect

from benchmarks.stand_in import StandIn
from kernelwright.judge import Judge


def test_the_stand_in_is_asked_like_the_judge() -> None:
    assert set(inspect.signature(StandIn.judge).parameters) == set(inspect.signature(Judge.judge).parameters)
