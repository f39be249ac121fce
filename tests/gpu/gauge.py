"""The gauge's arithmetic in one pass on a GPU, held against the same in pieces by torch.

python -m tests.gpu.gauge
"""

from __future__ import annotations

import math
import sys

import torch

from kernelwright.judge._compare import Deviation
from kernelwright.judge.worker._gauge import Gauge

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SIZES = (1, 4095, 4096, 3 * 4096 + 17, (1 << 20) + 3)
SPECIAL = (math.inf, -math.inf, math.nan, 0.0)


def main() -> int:
    torch.manual_seed(2026)
    faults = [fault for dtype in DTYPES for size in SIZES for fault in _faults(dtype, size)]
    for fault in faults:
        print(fault)
    print(f"{len(DTYPES) * len(SIZES)} answers: {'all agree' if not faults else f'{len(faults)} differ'}")
    return bool(faults)


def _faults(dtype: torch.dtype, size: int) -> list[str]:
    right = torch.randn(size, dtype=torch.float64, device="cuda") * 3
    right[torch.randint(size, (4,))] = torch.tensor(SPECIAL, dtype=torch.float64, device="cuda")
    plain = right.to(dtype)
    result = plain.clone()
    result[size // 2] += 0.125
    there = right * (1 + 1e-6)
    whole, pieces = Gauge.of(right, plain), _InPieces.of(right, plain)
    moves, theirs = (torch.zeros(size, device="cuda") for _ in range(2))
    whole.grow(moves, there)
    pieces.grow(theirs, there)
    budget = whole.budget(1, "strict")
    said = [
        ("deviation", _close(whole.measure(result).rms, pieces.measure(result).rms)),
        ("peak", _close(whole.measure(result).peak, pieces.measure(result).peak)),
        ("moves", torch.equal(moves, theirs)),
        *((f"pardon {times}", _agree(whole, pieces, result, moves, times, budget)) for times in (0.0, 2.0, 1e6)),
    ]
    return [f"{dtype} x {size}: {name} differs" for name, same in said if not same]


class _InPieces(Gauge):
    def _at_once(self, *others: torch.Tensor) -> bool:
        return False


def _agree(
    whole: Gauge, pieces: Gauge, result: torch.Tensor, moves: torch.Tensor, times: float, budget: Deviation
) -> bool:
    return whole.forgives(result, moves, times, budget) == pieces.forgives(result, moves, times, budget)


def _close(mine: float, theirs: float) -> bool:
    if math.isfinite(mine) and math.isfinite(theirs):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-300)
    return not math.isfinite(mine) and not math.isfinite(theirs)


if __name__ == "__main__":
    sys.exit(main())
