"""A benchmark's claims against the judge's clock, which sees the whole of every run and cannot be argued with.

Both sides make the same number of calls. What a run takes beyond what its benchmark says it timed (starting, reading,
warming up) is then the same for both, but for chance; where the candidate has more of it, time was hidden there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.judge._status import Rejection, Status

RESAMPLES = 1000
# So much of a claimed saving may be missing by the clock, as a share; where more certainly is, the claim is refused.
MISSING = 0.2
# Where more than this may be missing, the clock cannot bear the claim out, and only the clock is believed.
DOUBT = 0.5
SLIGHT_GAIN = 1.05


@dataclass(frozen=True)
class Turn:
    """One run of one side: seconds by the clock, and what its benchmark says of a call and of all calls."""

    wall: float
    claimed: float
    total: float

    @property
    def unexplained(self) -> float:
        return self.wall - self.total


@dataclass(frozen=True)
class Testimony:
    """What the clock says of the claims.

    Attributes:
        borne_out: Whether the benchmark's numbers may be used.
        charge: The factor by which the candidate's are to be raised.
        doubt: The factor by which they might have to be raised further: what the clock can tell and no more.
        told: The figures, for the evidence.
    """

    borne_out: bool
    charge: float
    doubt: float
    told: dict[str, Any]


def weigh(original: list[Turn], candidate: list[Turn]) -> Testimony:
    """Raises Rejection where the clock contradicts the claims."""
    hidden = np.array([mine.unexplained - theirs.unexplained for theirs, mine in zip(original, candidate, strict=True)])
    saved = float(np.median([theirs.total - mine.total for theirs, mine in zip(original, candidate, strict=True)]))
    low, high = _interval(hidden)
    claimed = _ratio([turn.claimed for turn in original], [turn.claimed for turn in candidate])
    seen = _ratio([turn.wall for turn in original], [turn.wall for turn in candidate])
    told = {
        "claimed_speedup": claimed,
        "wall_speedup": seen,
        "claimed_saving_ms": saved * 1e3,
        "hidden_ms": {"median": float(np.median(hidden)) * 1e3, "low": low * 1e3, "high": high * 1e3},
    }
    if saved > 0 and claimed > SLIGHT_GAIN and low > MISSING * saved:
        raise Rejection(
            Status.TAMPER,
            f"its benchmark says {claimed:.2f}x, but of the {saved * 1e3:.4g} ms said to be saved in a run the judge's "
            f"clock misses at least {low * 1e3:.4g} ms: the numbers are forged, or work was moved out of what is timed",
            witness=told,
        )
    borne_out = saved <= 0 or high <= DOUBT * saved
    own = float(np.median([turn.total for turn in candidate]))
    charge = 1 + max(0.0, float(np.median(hidden))) / own if borne_out and low > 0 else 1.0
    doubt = max(1.0, (1 + high / own) / charge) if borne_out and saved > 0 else 1.0
    return Testimony(borne_out, charge, doubt, told | {"borne_out": borne_out, "charged": charge, "doubt": doubt})


def _interval(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    """95 % of the median, by drawing again."""
    rng = np.random.default_rng(0)
    drawn = values[rng.integers(len(values), size=(RESAMPLES, len(values)))]
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def _ratio(theirs: list[float], mine: list[float]) -> float:
    return float(np.exp(np.median(np.log(np.array(theirs) / np.array(mine)))))
