"""What a benchmark says it took, in the forms that benchmarks say it in: claims, for the judge's clock to bear out.

json              {"seconds": [0.012, 0.013], "check": 1.5}, alone in the last line or in the file {output}
pytest-benchmark  --benchmark-json={output}
hyperfine         --export-json {output}
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class NoNumber(Exception):
    """The output holds no time; says why."""


@dataclass(frozen=True)
class Numbers:
    """One run's claims.

    Attributes:
        seconds: Of one call.
        calls: How many were timed.
        total: Seconds of all that were timed.
        check: What the benchmark says of its results; None if nothing.
    """

    seconds: float
    calls: int
    total: float
    check: Any = None


def read(output: str, text: str) -> Numbers:
    """The numbers in a benchmark's text. Raises NoNumber."""
    series, check = _FORMS[output](text)
    if not series:
        raise NoNumber("holds no measurements")
    for seconds, iterations in series:
        if not (seconds and all(one > 0 and math.isfinite(one) for one in seconds) and iterations >= 1):
            raise NoNumber("holds times that are none: they must be positive numbers of seconds")
    return Numbers(
        seconds=sum(statistics.median(seconds) for seconds, _ in series),
        calls=sum(len(seconds) * iterations for seconds, iterations in series),
        total=sum(sum(seconds) * iterations for seconds, iterations in series),
        check=check,
    )


# So many calls took these seconds each.
Series = tuple[list[float], int]
Said = tuple[list[Series], Any]


def _plain(text: str) -> Said:
    found = _object(text)
    if "seconds" not in found:
        raise NoNumber('holds no "seconds"')
    seconds = found["seconds"] if isinstance(found["seconds"], list) else [found["seconds"]]
    return [(_floats(seconds), _count(found.get("iterations", 1)))], found.get("check")


def _pytest_benchmark(text: str) -> Said:
    made = _list(_object(text).get("benchmarks"))
    checks = [one.get("extra_info", {}).get("check") for one in made]
    series = [_series_of(one.get("stats", {})) for one in made]
    return series, checks if any(check is not None for check in checks) else None


def _series_of(stats: dict[str, Any]) -> Series:
    data = stats.get("data") or [stats.get("median")] * _count(stats.get("rounds", 1))
    return _floats(data), _count(stats.get("iterations", 1))


def _hyperfine(text: str) -> Said:
    found = _list(_object(text).get("results"))
    return [(_floats(one.get("times") or [one.get("median")]), 1) for one in found], None


_FORMS: dict[str, Callable[[str], Said]] = {
    "json": _plain,
    "pytest-benchmark": _pytest_benchmark,
    "hyperfine": _hyperfine,
}


def _object(text: str) -> dict[str, Any]:
    """The whole text as a JSON object, or the last line that is one."""
    for part in (text, *reversed(text.splitlines())):
        try:
            found = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise NoNumber("holds no JSON object")


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _floats(values: list[Any]) -> list[float]:
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        raise NoNumber("holds times that are no numbers")
    return [float(one) for one in values]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def agree(mine: Any, theirs: Any, tolerance: float) -> bool:
    """Whether two checks say the same: numbers nearly, everything else exactly, whole numbers too."""
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(agree(a, b, tolerance) for a, b in zip(mine, theirs, strict=True))
    if isinstance(mine, float) or isinstance(theirs, float):
        if not (isinstance(mine, int | float) and isinstance(theirs, int | float)):
            return False
        return math.isclose(mine, theirs, rel_tol=tolerance) or mine == theirs
    return bool(mine == theirs)
