"""How fast the judge is: softmax 4096 x 1024, twenty distinct correct C++ kernels, checked and timed against eager.

    make bench-judge        about a minute on 2 cores

Builds are real (the build cache is empty), the judge is warm. Prints where the time goes, then how soon a candidate
that does not compile and one with a wrong value are answered.
"""

from __future__ import annotations

import os
import tempfile
import time

from kernels import SOFTMAX_TASK, softmax_variants
from rich.console import Console
from rich.table import Table

from kernelwright.judge import Judge, Verdict, machine
from kernelwright.tasks import load_task

TARGET_PER_MINUTE = 30
PARTS = ("build", "check", "time")


def main() -> None:
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["KERNELWRIGHT_CACHE"] = cache
        with Judge() as judge:
            task = load_task(SOFTMAX_TASK)
            variants = softmax_variants(21)
            judge.judge(task, variants[0])  # prepares the task, measures the ceilings
            verdicts = [judge.judge(task, source) for source in variants[1:]]
            broken = _answer_time(judge, task, variants[0].replace("float top", "flaot top"))
            wrong = _answer_time(judge, task, variants[0].replace("total += ", "total += 1e-3f + "))
    facts = machine()
    console.print(f"{facts['cpu']}, {facts['cores']} cores, torch {facts['torch']}, {facts['compiler']}")
    console.print(_table(verdicts))
    _conclude(console, verdicts, broken, wrong)


def _answer_time(judge: Judge, task: object, source: str) -> tuple[str, float]:
    start = time.perf_counter()
    verdict = judge.judge(task, source)  # type: ignore[arg-type]
    return str(verdict.status), time.perf_counter() - start


def _table(verdicts: list[Verdict]) -> Table:
    table = Table(title="softmax 4096 x 1024, seconds a candidate")
    for heading in ("candidate", "status", "over eager", *PARTS, "overhead", "total"):
        table.add_column(heading, justify="right")
    for number, verdict in enumerate(verdicts, 1):
        seconds = verdict.seconds
        ratio = verdict.speedup.get("eager", {}).get("ratio")
        cells = [f"{seconds[part]:.3f}" for part in (*PARTS,)]
        table.add_row(
            str(number),
            str(verdict.status),
            f"{ratio:.2f}x" if ratio else "",
            *cells,
            f"{_overhead(verdict):.3f}",
            f"{seconds['total']:.3f}",
        )
    means = [sum(v.seconds[part] for v in verdicts) / len(verdicts) for part in PARTS]
    total = sum(v.seconds["total"] for v in verdicts) / len(verdicts)
    over = sum(map(_overhead, verdicts)) / len(verdicts)
    table.add_section()
    table.add_row("mean", "", "", *[f"{mean:.3f}" for mean in means], f"{over:.3f}", f"{total:.3f}")
    return table


def _overhead(verdict: Verdict) -> float:
    """Neither compiling, nor checking, nor timing: starting processes, loading, deciding."""
    return verdict.seconds["total"] - sum(verdict.seconds[part] for part in PARTS)


def _conclude(console: Console, verdicts: list[Verdict], broken: tuple[str, float], wrong: tuple[str, float]) -> None:
    total = sum(verdict.seconds["total"] for verdict in verdicts)
    accepted = sum(verdict.accepted for verdict in verdicts)
    console.print(f"accepted {accepted} of {len(verdicts)}")
    for number, verdict in enumerate(verdicts, 1):
        if not verdict.accepted:
            console.print(f"  {number}: {verdict.status} at {verdict.stage}: {verdict.message}")
    console.print(f"{60 * len(verdicts) / total:.1f} candidates a minute (wanted: {TARGET_PER_MINUTE})")
    console.print(f"overhead {sum(map(_overhead, verdicts)) / total:.1%} (wanted: under 25 %)")
    console.print(f"does not compile: {broken[0]} in {broken[1]:.2f} s (wanted: under 1 s)")
    console.print(f"wrong value: {wrong[0]} in {wrong[1]:.2f} s (wanted: under 1.5 s)")


if __name__ == "__main__":
    main()
