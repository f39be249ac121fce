"""Ranks in place of values: what decides does not change when every speedup is squared."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def ranks(values: Mapping[K, float]) -> dict[K, float]:
    """Places over their number: 1 for the largest, 1/n for the smallest; equals share the middle of their places."""
    ordered = sorted(values.values())
    return {
        key: (bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / (2 * len(ordered))
        for key, value in values.items()
    }
