"""Are the outputs of two runs of a program the same, as far as rounding allows?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Other summation orders, carried through a whole model. By dtype: largest difference in units of the tensor's RMS.
ROOM = {"float64": 1e-6, "float32": 1e-3, "float16": 5e-2, "bfloat16": 2e-1}


@dataclass(frozen=True)
class Agreement:
    """Attributes:
    calls: Outermost calls of modules whose results were compared.
    furthest: The largest difference, in units of the tensor's RMS; infinite where shapes or numbers of calls differ.
    room: How large it may be.
    steady: False where the program does not agree with itself: then nothing can be said of others.
    """

    calls: int
    furthest: float
    room: float
    steady: bool = True

    @property
    def holds(self) -> bool:
        return self.steady and self.furthest <= self.room


def agreement(one: Path, other: Path, with_itself: Callable[[], Agreement] | None) -> Agreement:
    """`with_itself` is asked where the two differ: does the program give the same outputs twice?"""
    found = _compared(one, other)
    if found.holds or with_itself is None:
        return found
    return Agreement(found.calls, found.furthest, found.room, steady=with_itself().holds)


def _compared(one: Path, other: Path) -> Agreement:
    import torch

    some, others = (torch.load(path, weights_only=True) for path in (one, other))
    if [_forms(call) for call in some] != [_forms(call) for call in others]:
        return Agreement(min(len(some), len(others)), float("inf"), 0.0)
    pairs = [pair for call, twin in zip(some, others, strict=True) for pair in zip(call, twin, strict=True)]
    dtypes = {str(tensor.dtype).removeprefix("torch.") for tensor, _ in pairs}
    room = max((ROOM.get(dtype, 0.0) for dtype in dtypes), default=0.0)
    return Agreement(len(some), max((_distance(*pair) for pair in pairs), default=0.0), room)


def _forms(call: list) -> list:  # type: ignore[type-arg]
    return [(tuple(tensor.shape), tensor.dtype) for tensor in call]


def _distance(one, other) -> float:  # type: ignore[no-untyped-def]
    import torch

    one, other = one.double(), other.double()
    same = (one == other) | (one.isnan() & other.isnan())
    if bool(same.all()):
        return 0.0
    size = one[one.isfinite()].square().mean().sqrt().clamp_min(1e-30)
    worst = torch.where(same, 0.0, (one - other).abs() / size).amax()
    return float("inf") if bool(worst.isnan()) else float(worst)
