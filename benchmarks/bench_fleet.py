"""What a cluster is worth: candidates a minute of many nodes against one, and what the controller costs.

make bench-fleet        a judge that waits, sixteen nodes against one; then the real judge on one core and on two
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.kernels import SOFTMAX_TASK, softmax_variants
from kernelwright.fleet import Job, Kind, RayFleet
from kernelwright.fleet.cluster import abilities, on, start_head, start_node
from kernelwright.judge import Judge, Status, Verdict, source_hash
from kernelwright.tasks import Task, load_task

WAIT_S, EACH = 1.0, 6
MANY, WANTED_MANY = 16, 15.0
WANTED_TWO, WANTED_COST = 1.8, 0.05
REAL = 12


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
    rates = {}
    for number in (1, MANY):
        with cluster([cores] * number, Waits) as fleet:
            texts = [f"# {number} {one}\nimport torch\n" for one in range(number * (EACH + 1))]
            jobs = jobs_of(task, texts)
            took = seconds(fleet, jobs[number:], jobs[:number])
            rates[number] = number * EACH / took
            console.print(
                f"{number:>3} nodes: {number * EACH} candidates in {took:.2f} s, {60 * rates[number]:.0f} a minute"
            )
    ratio, cost = rates[MANY] / rates[1], 1 - rates[1] * WAIT_S
    console.print(f"{MANY} nodes judge {ratio:.2f} times as many as one (wanted: {WANTED_MANY:g})")
    console.print(
        f"with one node the controller takes {100 * cost:.1f} % of the time (wanted: under {100 * WANTED_COST:g} %)"
    )
    return ratio >= WANTED_MANY and cost < WANTED_COST


def judging(console: Console, task: Task) -> bool:
    """Two nodes of a core each against one, with the real judge."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    rates = {}
    for number in (1, 2):
        texts = softmax_variants(REAL + 2)
        with cluster([[core] for core in cores[:number]], Judge) as fleet:
            jobs = jobs_of(task, texts)
            took = seconds(fleet, jobs[2:], jobs[:2])
            rates[number] = REAL / took
            console.print(
                f"{number:>3} nodes of one core: {REAL} candidates in {took:.1f} s, {60 * rates[number]:.1f} a minute"
            )
    ratio = rates[2] / rates[1]
    console.print(f"two nodes judge {ratio:.2f} times as many as one (wanted: {WANTED_TWO:g})")
    return ratio >= WANTED_TWO


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
