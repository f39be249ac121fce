"""Whose work it is where kernels run in an interpreter: no clock and no sample can tell, so operators are counted.

An interpreted kernel is Python and numpy, thousands of times slower than what it stands for; the time it takes says
nothing about its share. What can be said: whether kernels were launched at all, and how many elements torch's own
operators read beside them, compared with what the reference's operators read on the same inputs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kernelwright.judge._contestant import Contestant
from kernelwright.judge._coverage import GEMM
from kernelwright.judge._expected import Trial
from kernelwright.judge._prepared import Prepared
from kernelwright.judge._status import Rejection, Status

# As elsewhere: half of the work may be torch's, and of a forbidden matrix product next to nothing.
MOST_SHARE, MOST_GEMM_SHARE = 0.5, 0.02


@dataclass
class Launches:
    """What one call launched, and what torch did beside it."""

    number: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    reference: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        return {
            "launches": self.number,
            "operators": dict(self.operators),
            "reference_operators": dict(self.reference),
        }


def look(contestant: Contestant, prepared: Prepared, trial: Trial) -> Launches:
    """One call of the candidate and one of the reference, on the same inputs."""
    contestant.lay(trial.inputs, slot=0, shifted=True)
    said = contestant.ask({"op": "survey"}, timeout=contestant.call_limit)
    with contestant.judged():
        operators = Counter({str(name)[:100]: int(number) for name, number in said["operators"].items()})
        return Launches(int(said["launches"]), operators, Counter(prepared.operators(trial.inputs)))


def judge_launches(policy: str, seen: Launches) -> None:
    """Raises where torch did what the kernels were meant to do."""
    if policy == "allowed":
        return
    if seen.number == 0:
        raise Rejection(Status.LIBRARY_ONLY, "launches none of its kernels", **seen.to_json())
    gemm = sum(number for name, number in seen.operators.items() if name in GEMM)
    theirs = seen.operators.total() - (gemm if policy == "gemm-only" else 0)
    whole = seen.reference.total()
    if theirs > MOST_SHARE * whole or (policy == "forbidden" and gemm > MOST_GEMM_SHARE * whole):
        names = ", ".join(name for name, _ in seen.operators.most_common(5))
        message = f"leaves its work to torch: {names} read {theirs} elements, all of the reference's operators {whole}"
        raise Rejection(Status.LIBRARY_ONLY, message, **seen.to_json())
