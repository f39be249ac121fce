"""The answer: three levels, and what was found that proves each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

Cell = tuple[int, int, int]
AXES = ("memory", "algorithm", "coordination")


@dataclass(frozen=True)
class Reading:
    """One thing found: the level it proves on an axis, in words; and the traces it leaves once compiled, if any."""

    axis: str
    level: int
    words: str
    traces: tuple[str, ...] = ()

    def corrected(self, code: Mapping[str, int], signs: Mapping[str, tuple[str, ...]]) -> "Reading":
        """The same, or nothing where one of its traces is not in the compiled code.

        `code`: how often the code has each sign; `signs`: those of which any shows a trace. What is not counted there
        speaks against nobody.
        """
        missing = [trace for trace in self.traces if trace in signs and not any(code.get(s, 1) for s in signs[trace])]
        return replace(self, level=0, words=f"not in the compiled code: {self.words}") if missing else self


@dataclass(frozen=True)
class Description:
    """Strategy coordinates (memory, algorithm, coordination), 0 to 3 each, and by axis what was found."""

    cell: Cell
    evidence: dict[str, list[str]]


def merged(readings: Iterable[Reading], remark: str = "") -> Description:
    """The highest level that anything proves, axis by axis; the strongest words first."""
    ordered = sorted(dict.fromkeys(readings), key=lambda reading: -reading.level)
    by_axis = {axis: [reading for reading in ordered if reading.axis == axis] for axis in AXES}
    memory, algorithm, coordination = (max((found.level for found in by_axis[axis]), default=0) for axis in AXES)
    evidence = {
        axis: [f"{found.level}: {found.words}" for found in by_axis[axis]] or [_nothing(remark)] for axis in AXES
    }
    return Description((memory, algorithm, coordination), evidence)


def _nothing(remark: str) -> str:
    return f"0: {remark or 'nothing above the plain form was found'}"
