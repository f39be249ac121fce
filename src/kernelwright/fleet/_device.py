"""What a device is called: times on devices of one name are compared, and those on others are not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MOST_LETTERS = 63


def device_name(facts: Mapping[str, Any]) -> str:
    """What was timed on, from what a verdict says of its machine."""
    if facts.get("gpu", "absent") != "absent":
        return label(str(facts["gpu"]).lower())
    cores = facts.get("cores", 1)
    return label(f"{facts.get('cpu', 'unknown')} {cores} core{'s' if cores != 1 else ''}".lower())


def label(text: str) -> str:
    """As a cluster allows values: letters, digits, dots, dashes, and not too many."""
    plain = re.sub(r"\((r|tm)\)", "", text)
    return re.sub(r"[^A-Za-z0-9_.]+", "-", plain)[:MOST_LETTERS].strip("-_.")
