"""A profile on one screen: time against the roof, where the time goes, what the code is made of, the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.cli._profile_device import render_device
from kernelwright.cli._profile_lines import line, roof_lines, short, unit
from kernelwright.judge import Profile

MOST_FUNCTIONS, LONGEST_NAME = 6, 44
PLACES = {
    "own": "own code",
    "maths": "maths library",
    "waiting": "waiting for threads",
    "torch": "torch",
    "other": "interpreter and the rest",
}
WIDTHS = ("scalar", "xmm", "ymm", "zmm")


def render(console: Console, profile: Profile, task: str, candidate: str) -> None:
    console.print(f"[bold green]✔ {profile.verdict.status}[/]  {escape(profile.verdict.message)}", soft_wrap=True)
    names = f"[dim]task[/] {escape(task)}  [dim]candidate[/] {escape(candidate)}"
    console.print(f"  {names}  [dim]on[/] {escape(_machine(profile))}", soft_wrap=True)
    if profile.device == "cpu":
        _render_host(console, profile.facts)
    else:
        render_device(console, profile.facts)
    console.print(f"[bold]Bottleneck:[/] {escape(profile.paragraph)}")


def _render_host(console: Console, facts: dict[str, Any]) -> None:
    for case in facts["cases"]:
        if len(facts["cases"]) > 1:
            console.print(f"  [bold]{escape(case['case'])}[/]")
        for name, text in _case_lines(case, facts):
            line(console, name, text)
    for name, text in (*_sample_lines(facts), *_code_lines(facts["code"]), *_counter_lines(facts["counters"])):
        line(console, name, text)
    if facts["code"].get("functions"):
        console.print(_table(facts["code"]["functions"]))


def _machine(profile: Profile) -> str:
    if profile.device != "cpu":
        return str(profile.facts["device"]["name"])
    return f"{profile.verdict.machine['cpu']}, {profile.facts['cores']} cores"


def _case_lines(case: dict[str, Any], facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from roof_lines(case, f"{unit(facts['ceilings']['fp32_flops_per_second'])}/s in fp32 multiply-adds")
    busy = f"{case['processors']:.2f} of {facts['cores']} cores busy"
    yield "threads", f"{busy}; {case['page_faults']:.0f} page faults a call"
    if case["outside_share"] is not None:
        yield "outside", f"{case['outside_share']:.0%} of a call is left with its own kernels switched off"


def _sample_lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    found = facts["samples"]
    shares = ", ".join(f"{words} {found[name]:.0%}" for name, words in PLACES.items() if found.get(name, 0) >= 0.005)
    yield "samples", f"{shares} (of {found['number']})" if shares else "none: its threads were never seen at work"


def _code_lines(code: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "absent" in code:
        yield "code", f"nothing known of its instructions: {code['absent']}"
        return
    hot = code["hot"]
    kind = "arithmetic" if hot["arithmetic"] else "loads and stores"
    widths = hot["arithmetic"] or hot["moves"]
    yield "code", f"{kind} of the hot loops: {_widths(widths)}" if widths else "no loops that compute or move anything"
    counted = ", ".join(f"{hot[name]} {name}" for name in ("divisions", "roots", "gathers", "scatters", "spills"))
    fused = "" if hot["fused_share"] is None else f"{hot['fused_share']:.0%} of additions and multiplications fused; "
    calls = f"; calls {', '.join(hot['calls'][:4])}" if hot["calls"] else ""
    yield "", f"{fused}{counted}{calls}"


def _widths(shares: dict[str, float]) -> str:
    return ", ".join(f"{shares[width]:.0%} {width}" for width in reversed(WIDTHS) if shares[width] >= 0.005)


def _counter_lines(counters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "absent" in counters:
        yield "perf", str(counters["absent"])
        return
    parts = []
    if counters.get("cycles") and "instructions" in counters:
        parts.append(f"{counters['instructions'] / counters['cycles']:.2f} instructions a cycle")
    parts += [f"{unit(counters[name])} {name}" for name in counters if name not in ("instructions",)]
    yield "perf", ", ".join(parts) + " a call"


def _table(functions: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("function", no_wrap=True)
    for heading in ("time", "loops", "arithmetic", "fused", "div", "sqrt", "gather", "spill"):
        table.add_column(heading, no_wrap=True, justify="right")
    table.add_column("calls in loops", overflow="fold")
    for function in functions[:MOST_FUNCTIONS]:
        table.add_row(*map(escape, _row(function)))
    return table


def _row(function: dict[str, Any]) -> list[str]:
    percent = [None if function[key] is None else f"{function[key]:.0%}" for key in ("share", "fused_share")]
    counts = [str(function[key]) for key in ("divisions", "roots", "gathers", "spills")]
    widths = _widths(function["arithmetic"]) if function["arithmetic"] else "none"
    calls = ", ".join(short(name, 24) for name in function["calls"][:3])
    name = short(function["name"], LONGEST_NAME)
    return [name, percent[0] or "", str(function["loops"]), widths, percent[1] or "", *counts, calls]
