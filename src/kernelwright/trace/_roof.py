"""The ceilings of this machine, as the judge has measured them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelwright.judge import Judge


@dataclass(frozen=True)
class MeasuredRoof:
    """Of the processor; a call on a GPU would need that device's."""

    judge: Judge

    def bytes_seconds(self, moved: float) -> float:
        return self.judge.ceilings().floor_seconds(moved)

    def operations_seconds(self, operations: float) -> float:
        return operations / self.judge.flops_ceiling()
