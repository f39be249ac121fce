"""When a run has found enough: a target reached, the roof near, or nothing better for a long time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StopRules:
    """Each is off where it is None.

    Attributes:
        target: A speedup; reached once the lower end of the best interval is there, so that luck does not end a run.
        roof_share: The share of what the hardware could do at best, from 0 to 1.
        plateau: So many evaluations in a row without a better kernel.
    """

    target: float | None = None
    roof_share: float | None = None
    plateau: int | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not self.target > 0:
            raise ValueError(f"a target of {self.target:g}x is no speedup; give a positive number")
        if self.roof_share is not None and not 0 < self.roof_share <= 1:
            raise ValueError(f"a share of the roof lies between 0 and 1, not at {self.roof_share:g}")
        if self.plateau is not None and self.plateau < 1:
            raise ValueError(f"a plateau of {self.plateau} evaluations would end the run at once; give 1 or more")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a run stands: the best interval, the best share of the roof, and how long ago the best was found."""

    best_low: float | None = None
    best_roof_share: float | None = None
    evaluations_since_best: int = 0


def reason_to_stop(rules: StopRules, standing: Standing) -> str | None:
    """The sentence that ends the run, if one of the rules says so."""
    if rules.target is not None and standing.best_low is not None and standing.best_low >= rules.target:
        return f"the target of {rules.target:g}x is reached: at least {standing.best_low:.2f}x"
    share = standing.best_roof_share
    if rules.roof_share is not None and share is not None and share >= rules.roof_share:
        return f"the best kernel is at {share:.0%} of what the hardware can do"
    if rules.plateau is not None and standing.evaluations_since_best >= rules.plateau:
        return f"nothing better in {standing.evaluations_since_best} evaluations"
    return None
