"""What a trace or a check found, on one screen."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernelwright.tasks import Task
from kernelwright.trace import Check, Program, Ranked, Swapped, Trace

LONGEST = 44


def render_spots(console: Console, found: Trace, ranked: list[Ranked], top: int) -> None:
    """The first `top` that can become tasks, and those before them that cannot."""
    shown = _first(ranked, top)
    if not shown:
        return
    table = _table("module", "calls", "share", "own", "shapes", "speedup?", "program?", "")
    for one in shown:
        table.add_row(*map(escape, _row(found, one)))
    console.print(f"[bold]{found.seconds:.2f} s[/] in the program. Modules by what a kernel could gain:")
    console.print(table)
    left = len(ranked) - len(shown)
    if left:
        console.print(f"{left} more could gain less; --top N shows more, --json FILE all.")


def _first(ranked: list[Ranked], top: int) -> list[Ranked]:
    fit = [place for place, one in enumerate(ranked) if not one.why_not]
    return ranked[: fit[top - 1] + 1] if len(fit) >= top else ranked[: max(top, len(fit) and fit[-1] + 1)]


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("calls", "share", "own"))
    return table


def _row(found: Trace, one: Ranked) -> list[str]:
    spot = one.spot
    shapes = " ".join(f"{shape.title} ({shape.calls})" for shape in spot.shapes[:3])
    more = f" +{len(spot.shapes) - 3}" if len(spot.shapes) > 3 else ""
    own = f"{spot.own_seconds / found.seconds:.1%}"
    sure = "" if any(shape.bytes is not None for shape in spot.shapes) else " guessed"
    return [
        _short(spot.label),
        str(spot.calls),
        f"{one.share:.1%}",
        own,
        shapes + more,
        f"{one.speedup:.1f}x{sure}",
        f"{1 + one.gain:.2f}x",
        _where(one),
    ]


def _where(one: Ranked) -> str:
    if one.why_not:
        return f"no task: {one.why_not}"
    return f"in {', '.join(one.spot.inside[:2])}" if one.spot.inside else ""


def _short(text: str) -> str:
    line = text.splitlines()[0]
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def render_operators(console: Console, found: Trace, top: int) -> None:
    if not found.operators:
        return
    table = _table("operator", "calls", "share", "tensors")
    for one in found.operators[:top]:
        share = f"{one.seconds / found.profiled_seconds:.1%}"
        table.add_row(one.name, str(one.calls), share, escape(_short(one.tensors or "none")))
    console.print("Operators by their own time, in a second run under torch's profiler:")
    console.print(table)


def render_tasks(console: Console, written: list[tuple[Ranked, Path, Task]]) -> None:
    for one, folder, task in written:
        cases = f"{len(task.cases)} case{'s' if len(task.cases) > 1 else ''}"
        console.print(f"wrote {escape(str(folder))}: {escape(_short(one.spot.label))}, {cases}", soft_wrap=True)
    console.print(f"[bold]Next:[/] kernelwright optimize {written[0][1]} --model builtin --minutes 1", soft_wrap=True)


def render_check(console: Console, found: Check, program: Program) -> None:
    for one in found.swapped:
        console.print(f"  {escape(_swapped(one))}", soft_wrap=True)
    times = f"{median(found.original):.3g} s as it is, {median(found.changed):.3g} s with the winners"
    console.print(f"  {times}: medians of {len(found.original)} runs each, taken in turns", soft_wrap=True)
    console.print(f"  of each run with winners {found.preparing:.2g} s went into fitting them in, counted here")
    console.print(f"  {_outputs(found)}", soft_wrap=True)
    interval = f"{found.ratio:.3g}x [{found.low:.3g}, {found.high:.3g}]"
    if not found.outputs.holds:
        console.print(f"[bold red]The outputs do not agree[/], so the time counts for nothing: {interval}.")
    elif found.shown:
        console.print(f"[bold green]The whole program runs {interval} as fast[/] with the winners in it (95 %).")
    else:
        console.print(f"[bold yellow]No gain is shown[/]: {interval} as fast (95 %).")
        console.print("[bold]Next:[/] more --rounds, a longer run of the program, or a calmer machine", soft_wrap=True)


def _swapped(one: Swapped) -> str:
    left = "".join(f"; left {calls} alone: {why}" for why, calls in one.left_alone.items())
    return f"{one.called}: took {one.calls} calls{left}"


def _outputs(found: Check) -> str:
    outputs = found.outputs
    if not outputs.steady:
        return "outputs: the program gives others each time it runs, so nothing can be said; let it set its seeds"
    if not outputs.calls:
        return "outputs: no call of a module was seen"
    return f"outputs of {outputs.calls} outermost calls differ by at most {outputs.furthest:.1e} of their RMS"
