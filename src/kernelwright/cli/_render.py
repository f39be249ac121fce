"""A verdict on one screen: the reason first, then the numbers, then what to do next."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from kernelwright.judge import Status, Verdict

NEXT = {
    Status.COMPILE_ERROR: "read the compiler's first error above; lines are counted in the native text",
    Status.LOAD_ERROR: "run the candidate on its own: it must import, and construct ModelNew like the reference",
    Status.TIMEOUT: "make it faster or raise the limit (--limit call_s=60, load_s, build_s)",
    Status.CRASH: "look for indices past the end; results and workspaces are fenced while checking",
    Status.OOM: "allocate less, or raise --limit memory_bytes",
    Status.WRONG_STRUCTURE: "return what the reference returns: same nesting, shapes, dtypes, in memory of its own",
    Status.WRONG_VALUE: "start with the first wrong element; the box shows which part of the output is affected",
    Status.NONDETERMINISTIC: "look for a race, a missing barrier, or memory read before it is written",
    Status.STATEFUL: "compute from the inputs alone; keep nothing between calls but scratch memory",
    Status.INPUT_MUTATED: "write to your own memory, not to the inputs",
    Status.TAMPER: "return only when the result is complete, and leave the process around you alone",
    Status.INVALID_PHYSICS: "this time cannot be true; if you think it is, delete ceilings.json from the cache",
    Status.LIBRARY_ONLY: 'do the work in your own kernel, or set library = "gemm-only" or "allowed" in task.toml',
}
UNCHECKED = "judge it on a machine with a GPU; no certificate is written for what was not checked"
MOST_LOG = 12
# Seconds of waiting for other judges that are worth a line.
LONG_WAIT = 1.0


def render(console: Console, verdict: Verdict, task: str, candidate: str) -> None:
    mark, colour = _mark(verdict)
    console.print(f"[bold {colour}]{mark} {verdict.status}[/]  {escape(verdict.message)}", soft_wrap=True)
    console.print(
        f"  [dim]task[/] {escape(task)}  [dim]candidate[/] {escape(candidate)}  [dim]stage[/] {verdict.stage}"
    )
    if verdict.accepted:
        _render_times(console, verdict)
        _render_checks(console, verdict)
    elif not verdict.checked:
        console.print(f"  [bold]Next:[/] {escape(UNCHECKED)}", soft_wrap=True)
    else:
        _render_evidence(console, verdict.evidence)
        advice = NEXT.get(verdict.status)
        if advice:
            console.print(f"  [bold]Next:[/] {escape(advice)}", soft_wrap=True)
    seconds = dict(verdict.seconds)
    total, waited = seconds.pop("total"), seconds.pop("waited", 0.0)
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
    console.print(f"  [dim]judged in {total:.2f} s ({parts})[/]")
    if waited >= LONG_WAIT:
        console.print(f"  [dim]waited {waited:.0f} s for its turn: another judge was at work on these cores[/]")


def _mark(verdict: Verdict) -> tuple[str, str]:
    if not verdict.checked:
        return "?", "yellow"
    return ("✔", "green") if verdict.accepted else ("✘", "red")


def _render_times(console: Console, verdict: Verdict) -> None:
    for name, value in verdict.time_ms.items():
        ratio = verdict.speedup.get(name)
        text = f"  {name:<13}{value:>10.4g} ms"
        if ratio:
            text += f"   {ratio['ratio']:>6.2f}x  95 % interval {ratio['low']:.2f} to {ratio['high']:.2f}"
        console.print(text)


def _render_checks(console: Console, verdict: Verdict) -> None:
    if "project" in verdict.evidence:
        _render_project(console, verdict)
        return
    check = verdict.evidence["check"]
    console.print(
        f"  {check['calls']} checked calls on {len(check['trials'])} trials, "
        f"{check['error_budget_used']:.0%} of the error budget used; inputs untouched, no state, memory fenced"
    )
    if verdict.coverage is not None:
        console.print(f"  {verdict.coverage:.0%} of the work in its own code; {_sizes(verdict)}")
    elif any("launches" in seen for seen in verdict.evidence.get("work", {}).values()):
        console.print(f"  {_launched(verdict)}; {_sizes(verdict)}")


def _render_project(console: Console, verdict: Verdict) -> None:
    told = verdict.evidence["project"]
    console.print(f"  tests as on the original ({', '.join(told['tests'])}), files outside the regions untouched")
    for case, seen in verdict.evidence.get("witness", {}).items():
        used = "the benchmark's numbers" if seen["borne_out"] else "the clock alone"
        console.print(
            f"  {escape(case)}: the benchmark says {seen['claimed_speedup']:.2f}x, the judge's clock of whole runs "
            f"{seen['wall_speedup']:.2f}x; used: {used}"
        )


def _launched(verdict: Verdict) -> str:
    """What an interpreted candidate ran: kernels, and torch beside them."""
    work = verdict.evidence["work"].values()
    beside = sorted({name for seen in work for name in seen["operators"]})
    number = max(seen["launches"] for seen in work)
    return f"{number} kernel launches a call, torch computes {', '.join(beside[:5]) or 'nothing'} beside them"


def _sizes(verdict: Verdict) -> str:
    near = verdict.evidence.get("neighbours", {})
    if not near:
        return "other sizes not tried (the task names none)"
    right = [name for name, good in near.items() if good]
    if not verdict.specialised:
        return f"right at neighbouring sizes too ({', '.join(near)})"
    return f"specialised: right at {len(right)} of {len(near)} neighbouring sizes"


def _render_evidence(console: Console, evidence: dict[str, Any]) -> None:
    if "bad_share" in evidence:
        box = " x ".join(f"{low}..{high}" for low, high in evidence["box"])
        console.print(
            f"  {evidence['bad_share']:.3%} of elements bad, largest error {_number(evidence['max_abs_error'])}, "
            f"all within [{box}] of {tuple(evidence['shape']) if 'shape' in evidence else 'the output'}",
            soft_wrap=True,
        )
    for key in ("log", "trace", "output"):
        text = str(evidence.get(key) or "").strip()
        if text:
            for line in text.splitlines()[:MOST_LOG] if key == "log" else text.splitlines()[-MOST_LOG:]:
                console.print(f"  [dim]│[/] {escape(line)}", soft_wrap=True)
            return


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
