"""What a cluster is worth: candidates a minute of many nodes against one, and what the controller costs.

make bench-fleet        a judge that waits, sixteen nodes against one; then the real judge on one core and on two
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.kernels import SOFTMAX_TASK, softmax_variants
from kernelwright.fleet import Job, Kind, RayFleet
from kernelwright.fleet.cluster import abilities, on, start_head, start_node
from kernelwright.judge import Judge, Status, Verdict, source_hash
from kernelwright.tasks import Task, load_task

WAIT_S, EACH, LAPS = 1.0, 6, 3
MANY, WANTED_MANY = 16, 15.0
WANTED_TWO, WANTED_COST = 1.8, 0.05
# Variants of softmax repeat their plans after so many.
REAL, PLANS = 20, 30


class Waits:
    """A judge that takes a fixed time, and none of the processor's."""

    def __init__(self, **_: Any) -> None: ...

    def judge(self, task: Task, source: str, **_: Any) -> Verdict:
        time.sleep(WAIT_S)
        return Verdict(status=Status.CORRECT, stage="time", message="", task=task.hash, candidate=source_hash(source))

    def close(self) -> None: ...


@contextmanager
def cluster(shares: Sequence[Sequence[int]], judges: Any) -> Iterator[RayFleet]:
    """A node for each share of the cores."""
    nodes = [start_head()]
    try:
        for number, share in enumerate(shares):
            with on(share):
                nodes.append(start_node(nodes[0].address, abilities(["cpp", "python"], node=f"node-{number}")))
        with closing(RayFleet(nodes[0], judges=judges)) as fleet:
            yield fleet
    finally:
        for node in reversed(nodes):
            node.close()


def seconds(fleet: RayFleet, jobs: Sequence[Job], warm: Sequence[Job]) -> float:
    """From the first job to the last result, after every node has judged one."""
    play(fleet, warm)
    start = time.perf_counter()
    play(fleet, jobs)
    return time.perf_counter() - start


def play(fleet: RayFleet, jobs: Sequence[Job]) -> None:
    for job in jobs:
        fleet.submit(job)
    left = len(jobs)
    while left:
        for result in fleet.finished(60.0):
            assert result.kind is Kind.JUDGED, result.reason
            left -= 1


def jobs_of(task: Task, texts: Sequence[str]) -> list[Job]:
    return [Job(candidate=source_hash(text), source=text, task=task.to_wire()) for text in texts]


def waiting(console: Console, task: Task) -> bool:
    """Sixteen against one, with a judge that waits."""
    cores = sorted(os.sched_getaffinity(0))

    def play_with(number: int, lap: int) -> float:
        texts = [f"# {number} {lap} {one}\nimport torch\n" for one in range(number * (EACH + 1))]
        jobs = jobs_of(task, texts)
        with cluster([cores] * number, Waits) as fleet:
            return number * EACH / seconds(fleet, jobs[number:], jobs[:number])

    one, many = in_turns(console, (1, MANY), play_with)
    ratio = many / one
    console.print(f"{MANY} nodes judge {ratio:.2f} times as many as one (wanted: {WANTED_MANY:g})")
    costs = {1: 1 - one * WAIT_S, MANY: 1 - many * WAIT_S / MANY}
    for number, cost in costs.items():
        console.print(
            f"of the time of {number} the controller takes {100 * cost:.1f} % (wanted: under {100 * WANTED_COST:g} %)"
        )
    return ratio >= WANTED_MANY and max(costs.values()) < WANTED_COST


def judging(console: Console, task: Task) -> bool:
    """Two nodes of a core each against one, with the real judge."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    texts = softmax_variants(PLANS * LAPS * 2)

    def play_with(number: int, lap: int) -> float:
        """The same plans each time, and never the same text: what was compiled once is not compiled again."""
        first = PLANS * (2 * lap + number - 1)
        jobs = jobs_of(task, texts[first : first + REAL + 2])
        with cluster([[core] for core in cores[:number]], Judge) as fleet:
            return REAL / seconds(fleet, jobs[2:], jobs[:2])

    one, two = in_turns(console, (1, 2), play_with)
    console.print(f"two nodes of one core judge {two / one:.2f} times as many as one (wanted: {WANTED_TWO:g})")
    return two / one >= WANTED_TWO


def in_turns(console: Console, numbers: Sequence[int], play_with: Callable[[int, int], float]) -> list[float]:
    """Candidates a second with so many nodes each, in the median of a few laps: others use this machine too."""
    rates: dict[int, list[float]] = {number: [] for number in numbers}
    for lap in range(LAPS):
        for number in numbers:
            rate = play_with(number, lap)
            rates[number].append(rate)
            console.print(f"{number:>3} nodes: {60 * rate:.1f} candidates a minute")
    return [statistics.median(rates[number]) for number in numbers]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("waiting", "judging"), help="one part")
    only = parser.parse_args().only
    os.environ.setdefault("RAY_AUTH_TOKEN", os.urandom(32).hex())
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    console, task = Console(highlight=False), load_task(SOFTMAX_TASK)
    parts = {"waiting": waiting, "judging": judging}
    held = [part(console, task) for name, part in parts.items() if only in (None, name)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    raise SystemExit(main())
