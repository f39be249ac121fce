"""Lines that every profile has on the screen: time against the roof, bytes, operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape


def line(console: Console, name: str, text: str) -> None:
    console.print(f"  {name:<10}{escape(text)}", soft_wrap=True)


def roof_lines(case: dict[str, Any], ceiling: str) -> Iterator[tuple[str, str]]:
    """`ceiling`: the operations a second that are possible, in words."""
    roof = case["roof"]
    bounds = f"{roof['memory_ms']:.3g} ms for its bytes"
    if roof["compute_ms"] is not None:
        bounds += f", {roof['compute_ms']:.3g} ms for its operations"
    yield "time", f"{case['time_ms']:.4g} ms (eager {case['eager_ms']:.4g} ms)"
    yield "roof", f"{bounds}: {roof['bound']} bound, {roof['share']:.0%} of the roof"
    moved = case["bytes"]["read"] + case["bytes"]["written"]
    best = moved / (roof["memory_ms"] / 1e3) if roof["memory_ms"] else 0.0
    yield "bytes", f"{unit(moved)}B at {unit(case['bytes_per_second'])}B/s, of {unit(best)}B/s for that many"
    yield "counted", _operations(case, ceiling)


def _operations(case: dict[str, Any], ceiling: str) -> str:
    operations = case["operations"]
    if "absent" in operations:
        return str(operations["absent"])
    parts = [f"{unit(operations[kind])} {kind}" for kind in ("matrix", "elementwise") if operations[kind]]
    special = f", {unit(operations['special'])} of them exp and the like" if operations["special"] else ""
    rate = f"at {unit(case['operations_per_second'])}/s, of {ceiling}"
    avoided = "; it avoids some of them" if case["roof"]["operations_avoided"] else ""
    return f"operations: {' + '.join(parts) or 'none'}{special}, {rate}{avoided}"


def short(name: str, longest: int) -> str:
    """Names come from the candidate's text."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def unit(value: float) -> str:
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g} "
