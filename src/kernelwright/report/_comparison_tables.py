"""A comparison written down: JSON for programs, rows of a table for people."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from kernelwright.report._comparison import QUARTERS, Comparison, Gap, Place, gap
from kernelwright.report._difference import Difference

FORMAT = 1
DIGITS = 6


def comparison_json(comparison: Comparison, budget: str) -> str:
    """Every number in natural logarithms of speedups over eager."""
    whole = {
        "format": FORMAT,
        "budget": budget,
        "ways": list(comparison.ways),
        "places": [_place_json(place, comparison.ways) for place in comparison.places],
        "differences": [_gap_json(one) for one in comparison.gaps],
        "remarks": list(comparison.remarks),
    }
    return json.dumps(whole, indent=1)


def _place_json(place: Place, ways: tuple[str, ...]) -> dict[str, Any]:
    return {
        **dict(place.facts),
        "up_to": place.budget,
        "points": [round(point, DIGITS) for point in place.points()],
        "ways": {way: _way_json(place, way) for way in ways if way in place.runs},
        "differences": [_gap_json(one) for one in _gaps(place, ways)],
    }


def _way_json(place: Place, way: str) -> dict[str, Any]:
    return {
        "curve": [round(value, DIGITS) for value in place.mean_curve(way)],
        "area": place.mean_area(way),
        "runs": [
            {"run": one.run, "seed": one.seed, "area": place.area(one), "final": place.final(one)}
            for one in place.runs[way]
        ],
    }


def _gap_json(one: Gap) -> dict[str, Any]:
    return {"first": one.first, "second": one.second, "area": asdict(one.area), "final": asdict(one.final)}


def _gaps(place: Place, ways: tuple[str, ...]) -> list[Gap]:
    return [found for other in ways[1:] if (found := gap([place], ways[0], other))]


# In words


def curve_rows(place: Place, ways: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:
    """Heading and rows: the best so far of every way at quarters of the budget, and its mean over the budget."""
    heading = [
        "best over eager after",
        "runs",
        *(_amount(place.budget * part, place.whole) for part in QUARTERS),
        "mean",
    ]
    rows = [
        [way, str(len(place.runs[way])), *map(_times, place.quarters(way)), _times(place.mean_area(way))]
        for way in ways
        if way in place.runs
    ]
    return heading, rows


def gap_rows(gaps: list[Gap]) -> tuple[list[str], list[list[str]]]:
    """Heading and rows: how many times as fast the first way's kernels are, over the budget and at its end."""
    heading = ["against", "over the budget", "at its end", "pairs", "tasks"]
    rows = [
        [one.second, _factor(one.area), _factor(one.final), str(one.area.pairs), str(one.area.tasks)] for one in gaps
    ]
    return heading, rows


def place_gap_rows(place: Place, ways: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:
    return gap_rows(_gaps(place, ways))


def _amount(value: float, whole: bool) -> str:
    return str(int(value)) if whole else f"{value:.3g}"


def _times(log_speedup: float) -> str:
    return f"{math.exp(log_speedup):.3g}x"


def _factor(found: Difference) -> str:
    if found.low is None or found.high is None:
        return f"{_times(found.value)}, one pair: no interval"
    interval = f"{_times(found.value)} [{math.exp(found.low):.3g}, {math.exp(found.high):.3g}]"
    return interval if found.clear else f"{interval} unclear"
