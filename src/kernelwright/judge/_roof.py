"""The least time a case could take on a machine, by its bytes and by its operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Roof:
    """The least time a case could take: by its bytes and by its operations, the longer of the two counts.

    A time below what the operations would take shows that the kernel avoids some of them; then only bytes count.
    """

    measured: float
    memory: float
    compute: float | None

    @property
    def avoids(self) -> bool:
        return self.compute is not None and self.compute > self.measured

    @property
    def bound(self) -> str:
        return "compute" if self.compute is not None and self.memory < self.compute and not self.avoids else "memory"

    @property
    def seconds(self) -> float:
        return self.compute if self.bound == "compute" and self.compute is not None else self.memory

    def to_json(self) -> dict[str, Any]:
        return {
            "bound": self.bound,
            "memory_ms": self.memory * 1e3,
            "compute_ms": None if self.compute is None else self.compute * 1e3,
            "share": round(self.seconds / self.measured, 6),
            "operations_avoided": self.avoids,
        }


def total(operations: dict[str, Any]) -> float:
    return float(operations["matrix"] + operations["elementwise"])
