"""A GPU candidate's profile on one screen: time against the roof, its kernels, what they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._profile_lines import line, roof_lines, short, unit

MOST_KERNELS, LONGEST_NAME = 6, 36
SHAPE = ("kernel", "time", "launches", "grid", "block", "registers", "shared", "local", "occupancy", "waves")
MIX = (
    "kernel",
    "loops",
    "instr.",
    "tensor",
    "fma",
    "special",
    "loads",
    "16-byte",
    "async",
    "shared",
    "barriers",
    "spills",
)
COUNTED = ("tensor", "fma", "special", "global_loads", "loads_128", "async_copies", "shared", "barriers", "spills")
PERCENTAGES = {
    "memory_busy": "memory busy",
    "compute_busy": "arithmetic busy",
    "tensor_busy": "tensor cores busy",
    "warps_active": "warps active",
    "load_sector_use": "bytes of loads used",
    "l2_hits": "L2 hits",
}


def render_device(console: Console, facts: dict[str, Any]) -> None:
    for case in facts["cases"]:
        if len(facts["cases"]) > 1:
            console.print(f"  [bold]{escape(case['case'])}[/]")
        for name, text in _case_lines(case, facts["device"]):
            line(console, name, text)
    for name, text in (*_code_lines(facts), *_counter_lines(facts["counters"])):
        line(console, name, text)
    kernels = facts["kernels"][:MOST_KERNELS]
    if kernels:
        console.print(_table(SHAPE, [_shape(kernel) for kernel in kernels]))
    if any(kernel["code"] for kernel in kernels):
        console.print(_table(MIX, [_mix(kernel) for kernel in kernels if kernel["code"]]))


def _case_lines(case: dict[str, Any], device: dict[str, Any]) -> Iterator[tuple[str, str]]:
    rates = device["rates"]
    units = case["matrix_rate"] if case["matrix_rate"] in rates else "fp32"
    yield from roof_lines(case, f"{unit(rates[units])}/s in {units} products")
    if case["busy_share"] is None:
        yield "launches", "nothing was seen to run on the device"
        return
    libraries = f"; {case['library_share']:.0%} of that in libraries" if case["library_share"] else ""
    count = f"{case['launches']} launch{'es' if case['launches'] != 1 else ''}"
    yield "launches", f"{count}, at work on the device for {case['busy_share']:.0%} of a call{libraries}"


def _code_lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    code = facts["code"]
    if "absent" in code:
        yield "code", f"nothing known of its instructions: {code['absent']}"
    else:
        how = "before registers are given out" if code["tool"] == "PTX" else "counted in its loops"
        yield "code", f"from {code['tool']}, {how}"


def _counter_lines(counters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "absent" in counters:
        yield "ncu", str(counters["absent"])
        return
    for name, counted in list(counters.items())[:MOST_KERNELS]:
        parts = [f"{words} {counted[key]:.0f}%" for key, words in PERCENTAGES.items() if key in counted]
        moved = counted.get("bytes_read", 0.0) + counted.get("bytes_written", 0.0)
        stalls = {key.removeprefix("stall_"): counted[key] for key in counted if key.startswith("stall_")}
        waits = max(stalls, key=lambda stall: stalls[stall], default="")
        waiting = f"; most warps wait for {waits.replace('_', ' ')}" if waits else ""
        yield "ncu", f"{short(name, LONGEST_NAME)}: {', '.join(parts)}; {unit(moved)}B moved{waiting}"


def _shape(kernel: dict[str, Any]) -> list[str]:
    held, code = kernel["occupancy"], kernel["code"]
    stack = code["stack_bytes"] if code else None
    return [
        short(kernel["name"], LONGEST_NAME),
        f"{kernel['share']:.0%}",
        str(kernel["launches"]),
        "x".join(map(str, _without_ones(kernel["grid"]))),
        "x".join(map(str, _without_ones(kernel["block"]))),
        str(kernel["registers"]),
        f"{unit(kernel['shared_bytes'])}B",
        "" if stack is None else f"{unit(stack)}B",
        f"{held['share']:.0%} ({held['limited_by']})" if held else "",
        f"{held['waves']:.2f}" if held else "",
    ]


def _without_ones(sizes: list[int]) -> list[int]:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return kept


def _mix(kernel: dict[str, Any]) -> list[str]:
    code = kernel["code"]
    counts = [code["hot"][kind] for kind in ("instructions", *COUNTED)]
    return [short(kernel["name"], LONGEST_NAME), str(code["loops"]), *map(str, counts)]


def _table(headings: tuple[str, ...], rows: list[list[str]]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(headings[0], no_wrap=True)
    for heading in headings[1:]:
        table.add_column(heading, no_wrap=True, justify="right")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
