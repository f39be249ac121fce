"""How steady the judge is: the same kernel judged twenty times; how often its interval holds the overall median.

make bench-steady       about a minute on 2 cores
"""

from __future__ import annotations

import statistics

from kernels import SOFTMAX_TASK, softmax_variants
from rich.console import Console
from rich.table import Table

from kernelwright.judge import Judge, machine
from kernelwright.tasks import load_task

TIMES = 20
WANTED = 18


def main() -> None:
    console = Console(highlight=False)
    with Judge() as judge:
        task, source = load_task(SOFTMAX_TASK), softmax_variants(1)[0]
        verdicts = [judge.judge(task, source) for _ in range(TIMES)]
    found = [verdict.speedup["eager"] for verdict in verdicts]
    overall = statistics.median(ratio["ratio"] for ratio in found)
    table = Table(title=f"the same pair, {TIMES} times; overall median {overall:.3f}x")
    for heading in ("judgement", "over eager", "low", "high", "holds the median", "busy rounds"):
        table.add_column(heading, justify="right")
    inside = 0
    for number, (ratio, verdict) in enumerate(zip(found, verdicts, strict=True), 1):
        holds = ratio["low"] <= overall <= ratio["high"]
        inside += holds
        busy = sum(case["rounds_begun_on_a_busy_machine"] for case in verdict.evidence["timing"])
        table.add_row(
            str(number), *[f"{ratio[key]:.3f}" for key in ("ratio", "low", "high")], "yes" if holds else "NO", str(busy)
        )
    facts = machine()
    console.print(f"{facts['cpu']}, {facts['cores']} cores, torch {facts['torch']}")
    console.print(table)
    widths = [ratio["high"] / ratio["low"] - 1 for ratio in found]
    console.print(f"{inside} of {TIMES} intervals hold the overall median (wanted: {WANTED})")
    console.print(f"median width of an interval: {statistics.median(widths):.1%}")


if __name__ == "__main__":
    main()
